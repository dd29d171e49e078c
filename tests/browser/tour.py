"""The pictures of the README: `python -m tests.browser.tour docs/tour`, from what ships."""

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

from tests.browser.app import browsing, serving, settled, temporary_home
from tests.browser.shots import lighten

SIZE = {"width": 1120, "height": 700}
SMALL = (840, 525)
STEPS = 5
"""Moves of the slider."""
PAUSE = 1200
"""Milliseconds that a picture of an animation stands."""


def shot(page: Page) -> Image.Image:
    """What the window shows, small and with few colours."""
    page.wait_for_timeout(2000)
    with Image.open(io.BytesIO(page.screenshot())) as picture:
        return picture.convert("RGB").resize(SMALL, Image.Resampling.LANCZOS).quantize(64)


def animate(frames: list[Image.Image], path: Path) -> None:
    """Writes pictures as an animation that goes round."""
    first, *more = frames
    first.save(path, save_all=True, append_images=more, duration=PAUSE, loop=0, optimize=True)


def slide(page: Page, address: str, path: Path) -> None:
    """The budget slider moves, and the result with it."""
    page.goto(f"{address}/mean")
    settled(page)
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    slider = page.get_by_role("slider", name="Privacy budget").first
    frames = [shot(page)]
    for _ in range(STEPS):
        slider.focus()
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        frames.append(shot(page))
    animate(frames, path)


def claim(page: Page, address: str, path: Path) -> None:
    """Points stand by claim, then by proof."""
    frames = []
    for where in ("By claim", "By proof"):
        page.goto(f"{address}/enadpp?enadpp.by={where}")
        settled(page)
        page.locator(".js-plotly-plot .main-svg").first.wait_for()
        frames.append(shot(page))
    animate(frames, path)


def attack(page: Page, address: str, path: Path) -> None:
    """A claim that an attack has shown to be wrong."""
    page.goto(f"{address}/learn?learn.screen=attack&present=1")
    settled(page)
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    shot(page).save(path, optimize=True)
    lighten(path)


def main(folder: str) -> None:
    """Starts the app on an empty store and takes the pictures."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    with temporary_home() as home, serving(home) as address, browsing() as browser:
        page = browser.new_context(viewport=SIZE).new_page()
        slide(page, address, target / "slide.gif")
        claim(page, address, target / "claim.gif")
        attack(page, address, target / "attack.png")


if __name__ == "__main__":
    main(sys.argv[1])
