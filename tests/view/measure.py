"""How long pages of large models take: to open, to open a group, to search.

python tests/view/measure.py [MODEL...]

Without a file: models of 4,000 and 35,000 layers made of copies of one, and one of 35,000 layers
of which no two are alike. Numbers are seconds in which the browser's main thread computes, so that
other programs on the machine change them little, and kilobytes of the page.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]

from benchmark_validate import EXAMPLES, growing, repeated  # noqa: E402
from browser import Browser, opened, view  # noqa: E402

NEXT_GROUP = """
const [opened] = arguments;
const group = [...document.querySelectorAll(".card.group")]
    .find(each => !opened.includes(each.dataset.node));
if (!group) return null;
group.dispatchEvent(new MouseEvent("click", {bubbles: true}));
return group.dataset.node;
"""
SEARCH = """
const field = document.getElementById("search");
field.value = "add 12";
field.dispatchEvent(new Event("input"));
"""
DRAWN = "return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def computed(browser: Browser) -> float:
    metrics = browser.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


def measured(browser: Browser, page: Path) -> str:
    browser.driver.get("about:blank")
    before = computed(browser)
    browser.driver.get(page.as_uri())
    seconds = [computed(browser) - before]
    done: list[str] = []
    folds = []
    for _ in range(10):
        before = computed(browser)
        group = browser.js(NEXT_GROUP, done)
        if group is None:
            break
        done.append(group)
        browser.js(DRAWN)
        folds.append(computed(browser) - before)
    before = computed(browser)
    browser.js(SEARCH)
    seconds += [max(folds, default=0.0), computed(browser) - before]
    size = page.stat().st_size >> 10
    return "  ".join([*(f"{each:6.2f}" for each in seconds), f"{size:8,}  {page.stem}"])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, opened() as browser:
        models = [Path(name) for name in sys.argv[1:]] or [
            *(repeated(EXAMPLES / "encoder.xml", count, Path(folder)) for count in (4_000, 35_000)),
            growing(35_000, Path(folder)),
        ]
        browser.driver.execute_cdp_cmd("Performance.setTimeDomain", {"timeDomain": "threadTicks"})
        browser.driver.execute_cdp_cmd("Performance.enable", {})
        print("  open    fold  search        kB  model")
        for model in models:
            page = view(model, "--no-symbols", "-o", Path(folder) / f"{model.stem}.html")
            print(measured(browser, page), flush=True)


if __name__ == "__main__":
    main()
