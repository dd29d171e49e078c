"""A chart that is copied takes its caption, its status and its source along."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image
from playwright.sync_api import Page

from engine import __version__
from pages.ui.paper import defaults
from tests.browser.app import settled
from tests.browser.conftest import App

pytestmark = pytest.mark.browser


def saved(page: Page, button: str, folder: Path) -> Path:
    """What a button over the chart saves."""
    chart = page.locator(".js-plotly-plot").first
    chart.locator(".main-svg").first.wait_for()
    chart.hover()
    with page.expect_download() as download:
        chart.locator(f"[data-title='{button}']").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def words(drawing: Path) -> str:
    """The texts of a drawing, a line broken over two rows in one."""
    return " ".join(" ".join(ElementTree.parse(drawing).getroot().itertext()).split())


def test_a_copied_chart_says_what_it_shows_and_a_png_is_saved_without_a_clipboard(
    app: App, tmp_path: Path
):
    page = app.tab("survival")
    settled(page)
    text = words(saved(page, "Save as SVG", tmp_path))
    assert "Pairs ranked wrongly at epsilon 1" in text  # the caption
    assert "No privacy" in text  # the names at the lines' ends say what is proved
    assert "Private Newton, proved" in text
    assert f"Epsilon Explorer {__version__}, runs" in text
    assert any(job.id in text for job in defaults.opening("survival").values())
    assert "/survival" in text
    page.evaluate("() => { navigator.clipboard.write = () => Promise.reject(new Error('none')) }")
    path = saved(page, "Copy as PNG", tmp_path)
    with Image.open(path) as picture:
        assert picture.format == "PNG"
        assert picture.width > 1000


@pytest.mark.parametrize(
    "address",
    [
        "survival",
        *(pytest.param(one, marks=pytest.mark.thorough) for one in ("enadpp", "survival?lang=de")),
    ],
)
def test_a_saved_picture_holds_its_texts_in_any_type(app: App, tmp_path: Path, address: str):
    """The picture is opened without the page, whose type it cannot load."""
    page = app.tab(address)
    settled(page)
    chart = page.locator(".js-plotly-plot").first
    chart.locator(".main-svg").first.wait_for()
    with page.expect_download() as download:
        chart.evaluate("node => node.dispatchEvent(new CustomEvent('explorer.save', "
                       "{ detail: 'svg' }))")  # fmt: skip
    download.value.save_as(tmp_path / "chart.svg")
    alone = page.context.new_page()
    alone.goto((tmp_path / "chart.svg").as_uri())
    for family in ("", "Arial", "DejaVu Sans"):
        ends = alone.evaluate(
            """family => [...document.querySelectorAll("text")].map((one) => {
              if (family) for (const part of [one, ...one.querySelectorAll("*")]) {
                part.style.fontFamily = family
              }
              return one.getBoundingClientRect().right
            })""",
            family,
        )
        width = alone.evaluate("document.documentElement.getBoundingClientRect().right")
        assert len(ends) > 10
        assert max(ends) <= width
    alone.close()


def test_below_a_chart_are_its_address_its_version_and_its_runs(app: App):
    page = app.tab("survival?survival.knots=4")
    settled(page)
    page.get_by_role("button", name="Numbers").first.click()
    line = page.get_by_text(f"Epsilon Explorer {__version__}, runs").first
    line.wait_for()
    text = line.inner_text()
    assert "address /survival?survival.knots=4" in text
    assert "more run" in text or text.count(",") > 2


def test_the_curve_of_the_chosen_method_is_heard_from_left_to_right(app: App):
    """A note for each budget, and higher ones for higher points."""
    page = app.tab("survival")
    settled(page)
    page.wait_for_function("""() => {  // another chart may be drawn first
      window.chart = [...document.querySelectorAll("[role=figure]")].find(
        ({ _fullData: lines }) => lines?.some(({ name }) => name === "Private Newton · proved"))
      return window.chart
    }""")
    heard = """key => new Promise(done => {
      chart.addEventListener("explorer.heard", ({ detail }) => done(detail), { once: true })
      chart.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))
    })"""
    played = page.evaluate(heard, "Enter")
    assert played["name"] == "Private Newton · proved"  # the first of the widest lines is another
    notes = played["notes"]
    drawn = page.evaluate("""() => {
      const { _fullData: lines, _fullLayout: { yaxis } } = chart
      const one = lines.find(({ name }) => name?.startsWith("Private Newton · proved"))
      return Array.from(one.y, (y) => 1 - yaxis.d2p(y) / yaxis._length)
    }""")
    assert len(notes) > 10
    assert [note["height"] for note in notes] == pytest.approx(drawn)
    places = [note["place"] for note in notes]
    assert places == sorted(places)
    assert places[0] < 0.2 < 0.8 < places[-1]
    assert page.evaluate(heard, "Enter")["notes"] == []  # again ends it
