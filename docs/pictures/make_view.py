"""Draws docs/pictures/view.png: the page of `irshape view` for a model with faults.

python docs/pictures/make_view.py        needs Chromium, chromedriver and selenium
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from view.browser import opened, view  # noqa: E402


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, opened() as browser:
        text = (ROOT / "examples" / "classifier.xml").read_text(encoding="utf-8")
        model = Path(folder) / "classifier.xml"
        wrong = text.replace('strides="1, 1"', 'strides="2, 2"', 1)
        model.write_text(wrong, encoding="utf-8")
        model.with_suffix(".bin").write_bytes((ROOT / "examples" / "classifier.bin").read_bytes())
        browser.open(view(model, "-o", Path(folder) / "page.html"), width=1200)
        browser.driver.save_screenshot(str(HERE / "view.png"))


if __name__ == "__main__":
    main()
