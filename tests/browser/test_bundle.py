"""The bundle in a browser whose network is off: every chart follows the slider of its paper."""

import contextlib
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from engine import __version__
from engine.catalog import catalog
from engine.cli.main import main
from tests.browser.app import PATIENCE
from tests.browser.test_tour import GRAVE

pytestmark = pytest.mark.browser
PRINTS = "window.dispatchEvent(new Event('beforeprint'))"
"""What a browser does before it prints."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("bundle")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXPLORER_HOME", str(folder / "home"))
        assert main(["bundle", "--to", str(folder / "b.zip")]) == 0
    with zipfile.ZipFile(folder / "b.zip") as file:
        file.extractall(folder)
    with offline(browser, folder / "index.html") as opened:
        opened.locator(".js-plotly-plot .main-svg").first.wait_for()
        yield opened


@contextlib.contextmanager
def offline(browser: Browser, file: Path) -> Iterator[Page]:
    """A file in a window without a network, which asks for nothing and raises nothing."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    context.set_default_timeout(PATIENCE)
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("request", lambda one: errors.append(one.url) if "http" in one.url else None)
    opened.goto(file.as_uri())
    yield opened
    context.close()
    assert errors == []


def drawn(page: Page, slug: str) -> list[str]:
    """What each chart of a paper draws, as Plotly has it."""
    found: list[str] = page.locator(f"#{slug} .js-plotly-plot").evaluate_all(
        """all => all.map(({ data, layout: { shapes, annotations, title, xaxis, yaxis } }) =>
          JSON.stringify([data, shapes, annotations, title, xaxis, yaxis]))"""
    )
    return found


@pytest.mark.parametrize(
    "slug",
    [
        slug if slug in ("survival", "lvq") else pytest.param(slug, marks=pytest.mark.slow)
        for slug in catalog()
    ],
)
@pytest.mark.thorough
def test_the_slider_moves_every_chart(page: Page, slug: str):
    """Each chart changes, except those that say that they are the same at every ε."""
    section = page.locator(f"#{slug}")
    slider, finding = section.locator("input[type=range]"), section.locator(".finding")
    slider.fill("0")
    before, said = drawn(page, slug), finding.text_content()
    slider.press("End")
    after = drawn(page, slug)
    captions = section.locator("figcaption").all_inner_texts()
    still = ["The same at every ε." in one for one in captions]
    assert len(before) == len(after) == len(still) > 2
    assert [one == other for one, other in zip(before, after, strict=True)] == still
    assert finding.text_content() != said
    for one in captions:  # its address, version and runs
        assert re.search(
            rf"Epsilon Explorer {re.escape(__version__)}, address /\w+\?.+, runs \w{{12}}", one
        )


@pytest.mark.slow
def test_nothing_serious_is_found_and_it_fits_a_phone(page: Page):
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in GRAVE] == []
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(  # dozens of charts take their new widths one after the other
        "document.documentElement.scrollWidth <= 390"
    )


@pytest.mark.thorough
def test_a_lesson_is_shown_moved_and_printed_from_one_file_without_a_network(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    file = tmp_path / "lesson.html"
    assert main(["bundle", "--lesson", "clipping", "--to", str(file)]) == 0
    with offline(browser, file) as opened:
        second = opened.locator("section.drawn").nth(1)
        second.scroll_into_view_if_needed()
        expect(second.locator(".finding")).to_contain_text("At B = 5 the noise")
        second.locator(".main-svg").first.wait_for()
        second.get_by_role("slider", name="Clipping bound B").press("ArrowRight")
        expect(second.locator(".finding")).not_to_contain_text("At B = 5 the noise")
        opened.emulate_media(media="print")
        opened.evaluate(PRINTS)
        printed = opened.pdf(format="A4")
        views = opened.locator("section").count()
        assert len(re.findall(rb"/Type /Page\b", printed)) < views == 4  # what fits shares a sheet
        opened.locator("section.drawn .answer summary").first.click()
        opened.evaluate(PRINTS)
        for section in opened.locator("section").all():  # those out of sight, too
            section.locator(".main-svg").first.wait_for()
            assert "".join(section.locator(".finding, .caption").all_inner_texts())
        assert opened.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert opened.locator("input[type=range]").locator("visible=true").count() == 0
