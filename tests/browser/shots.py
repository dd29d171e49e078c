"""Pictures of every page: `python -m tests.browser.shots docs/shots [name …]`."""

import sys
from pathlib import Path

from playwright.sync_api import Browser, Page

from tests.browser.app import browsing, serving, settled, temporary_home, trained

WIDTHS = {"wide": (1440, 900), "narrow": (390, 844)}
THEMES = ("light", "dark")
PAGES = {"home": "", "survival": "survival", "reproduce": "reproduce", "compare": "compare"}
PAGES |= {"runs": "runs", "lost": "nowhere"}


def shoot(address: str, browser: Browser, folder: Path, wanted: list[str]) -> None:
    """Takes every page at every width in every theme."""
    for theme in THEMES:
        for size, (width, height) in WIDTHS.items():
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=theme
            )
            page = context.new_page()
            for name, path in PAGES.items():
                if name in wanted:
                    page.goto(f"{address}/{path}")
                    _ready(page, name)
                    _whole(page, width, height)
                    page.screenshot(path=folder / f"{name}-{size}-{theme}.png")
                    page.set_viewport_size({"width": width, "height": height})
            context.close()


def _ready(page: Page, name: str) -> None:
    """Waits for a page to show what it has to show."""
    trained(page) if name == "survival" else settled(page)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(700)


def _whole(page: Page, width: int, height: int) -> None:
    """Makes the window as high as the page, whose middle scrolls by itself."""
    inner = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": width, "height": max(height, int(inner) + 20)})
    page.wait_for_timeout(700)


def main(folder: str, *names: str) -> None:
    """Starts the app on an empty store and takes the pictures."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    with temporary_home() as home, serving(home) as address, browsing() as browser:
        shoot(address, browser, target, list(names or PAGES))


if __name__ == "__main__":
    main(*sys.argv[1:])
