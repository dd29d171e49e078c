"""Pictures of every page: `python -m tests.browser.shots docs/shots [name …]`.

With EXPLORER_HOME set, that store is shown; else an empty one, whose runs are waited for.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, TimeoutError

from engine.catalog import catalog
from tests.browser.app import ROOT, browsing, serving, settled, temporary_home, trained

WIDTHS = {"wide": (1440, 900), "narrow": (390, 844)}
THEMES = ("light", "dark")
ASIDE = ("__init__", "lost")
LESSON = "lesson=clipping&view"
TAUGHT = {
    "lesson": f"learn?{LESSON}=1&learn.screen=clipping&learn.bound=30",
    "present": f"mean?{LESSON}=4&mean.bound=5&present=1",
}
"""A lesson's question as a class sees it, and a view as a presenter shows it."""
PATIENCE = 600_000
"""Milliseconds to wait for the first runs of a page."""


def pages() -> dict[str, str]:
    """The path of each page by its name, first the start page, last views of a lesson."""
    names = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
    others = {name: name for name in names if name not in ("home", *ASIDE)}
    return {"home": "", **others, **TAUGHT}


def shoot(address: str, browser: Browser, folder: Path, wanted: list[str]) -> None:
    """Takes the wanted pages at every width in every theme."""
    for theme in THEMES:
        for size, (width, height) in WIDTHS.items():
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if theme == "dark" else "light",
            )
            page = context.new_page()
            for name in wanted:
                page.goto(f"{address}/{pages()[name]}")
                _ready(page, name)
                if name not in TAUGHT:
                    _whole(page, width, height)
                path = folder / f"{name}-{size}-{theme}.png"
                page.screenshot(path=path)
                lighten(path)
                page.set_viewport_size({"width": width, "height": height})
            context.close()


def lighten(path: Path) -> None:
    """Keeps a picture's 256 best colours: a third of the size, and the same to the eye."""
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(256).save(path, optimize=True)


def _ready(page: Page, name: str) -> None:
    """Waits for a page to show what it has to show, within reason."""
    settled(page, PATIENCE)
    with contextlib.suppress(TimeoutError):
        if name in ("home", *catalog()):
            trained(page, PATIENCE)
    page.wait_for_function(
        "() => !document.querySelector('[data-testid=stSkeleton]')", timeout=PATIENCE
    )
    page.wait_for_timeout(1500)  # pictures, fonts and the last chart


def _whole(page: Page, width: int, height: int) -> None:
    """Makes the window as high as the page, whose middle scrolls by itself.

    Charts grow with the window, up to a height of their own.
    """
    for _ in range(5):
        inner = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
        if inner <= height:
            return
        height = int(inner) + 20
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(1000)


@contextlib.contextmanager
def _store() -> Iterator[Path]:
    """The store that is named, or an empty one."""
    if named := os.environ.get("EXPLORER_HOME"):
        yield Path(named)
    else:
        with temporary_home() as home:
            yield home


def main(folder: str, *names: str) -> None:
    """Starts the app and takes the pictures."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    with _store() as home, serving(home) as address, browsing() as browser:
        shoot(address, browser, target, list(names or pages()))


if __name__ == "__main__":
    main(*sys.argv[1:])
