"""A headless Chromium that opens pages, and what a person does in the page of `irshape view`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from irshape.cli import cli

if TYPE_CHECKING:
    from selenium.webdriver.remote.webelement import WebElement

BROWSER = next(filter(None, map(shutil.which, ("chrome", "chromium", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
MISSING = (
    "no Chromium or Chrome"
    if BROWSER is None
    else "no chromedriver"
    if DRIVER is None
    else "selenium is not installed"
    if find_spec("selenium") is None
    else ""
)
"""Why the tests in a browser cannot run here; empty where they can."""

OPTIONS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-extensions "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--disable-dev-shm-usage --no-zygote "
    # fewer processes: none that waits for another site, none for a graphics card
    "--disable-features=SpareRendererForSitePerProcess --in-process-gpu"
)


TEXTS = """
return [...document.querySelectorAll(arguments[0])].map(each =>
  each.innerText ?? ([...each.querySelectorAll("text")].map(text => text.textContent).join("\\n")
    || each.textContent))
"""
"""In one call, which is faster than to ask for the text of each element."""


class Browser:
    """One browser for many pages."""

    def __init__(self) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        assert BROWSER is not None
        options.binary_location = BROWSER
        for option in OPTIONS.split():
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))

    def open(
        self, page: Path, fragment: str = "", *, width: int = 1280, dark: bool = False
    ) -> None:
        """Opens a page in a window of this width, and waits until it is drawn."""
        self.resize(width)
        self.scheme("dark" if dark else "light")
        if self.driver.current_url.split("#")[0] == page.as_uri():
            self.driver.get("about:blank")  # another fragment alone would not load it anew
        self.driver.get(page.as_uri() + fragment)
        assert self.js("return document.documentElement.dataset.ready") == "yes", self.console()

    def resize(self, width: int) -> None:
        metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def scheme(self, name: str) -> None:
        """Makes the system light or dark."""
        feature = {"name": "prefers-color-scheme", "value": name}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        self.js("return new Promise(done => requestAnimationFrame(() => setTimeout(done)))")

    def js(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)

    def console(self) -> list[str]:
        """What the console shows since it was asked last."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def all(self, selector: str) -> list[WebElement]:
        elements: list[WebElement] = self.driver.find_elements("css selector", selector)
        return elements

    def one(self, selector: str) -> WebElement:
        (element,) = self.all(selector)
        return element

    def texts(self, selector: str) -> list[str]:
        """The texts of elements as they show; of a drawing each text on a line of its own."""
        texts: list[str] = self.js(TEXTS, selector)
        return texts

    def button(self, text: str) -> WebElement:
        """The button in the side panel that says this."""
        at = self.texts("#panel button").index(text)
        return self.all("#panel button")[at]

    def tab(self, name: str) -> None:
        self.one(f"#tab-{name}").click()

    @property
    def panel(self) -> str:
        (text,) = self.texts("#panel")
        return text

    def search(self, text: str) -> None:
        """Types into the search, and goes to the first layer that it shows."""
        field = self.one("#search")
        self.js("arguments[0].value = arguments[1]", field, text[:-1])
        field.send_keys(text[-1], "\n")  # each key searches anew

    def card(self, name: str) -> WebElement:
        """The layer, or the closed group, that shows this name."""
        (at,) = (at for at, text in enumerate(self.texts(".card")) if name in text.split("\n"))
        return self.all(".card")[at]

    def names(self) -> list[str]:
        """The names of layers that are drawn."""
        return [text.split("\n")[-1] for text in self.texts(".card.layer .name")]


@contextmanager
def opened() -> Iterator[Browser]:
    browser = Browser()
    try:
        yield browser
    finally:
        browser.driver.quit()


def view(*arguments: str | Path) -> Path:
    """Runs `irshape view`; returns the page that it wrote."""
    return Path(call("view", *arguments).strip()).resolve()


def call(*arguments: str | Path, status: int = 0) -> str:
    """Runs a command; returns what it prints."""
    done = CliRunner().invoke(cli, list(map(str, arguments)))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == status, done.output
    return done.stdout
