"""The bundle in a browser whose network is off: every chart follows the slider of its paper."""

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Error, Page

from engine.cli.main import main
from tests.browser.app import ROOT, browsing, chromium
from tests.browser.test_access import GRAVE

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("bundle")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXPLORER_HOME", str(folder / "home"))
        wanted = ["--paper", "mean", "--paper", "lvq"]
        assert main(["bundle", "--to", str(folder / "b.zip"), *wanted]) == 0
    with zipfile.ZipFile(folder / "b.zip") as file:
        file.extractall(folder)
    try:
        with browsing() as browser:
            context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
            opened = context.new_page()
            errors: list[str] = []
            opened.on("pageerror", lambda error: errors.append(str(error)))
            opened.on("request", lambda one: errors.append(one.url) if "http" in one.url else None)
            opened.goto((Path(folder) / "index.html").as_uri())
            opened.locator(".js-plotly-plot .main-svg").first.wait_for()
            yield opened
            assert errors == []
    except Error as error:
        if "Executable doesn't exist" in str(error):
            pytest.skip("no Chromium: install chromium, or `playwright install chromium`")
        raise


def flags(page: Page, slug: str) -> list[str]:
    """What each chart of a paper says its budget is, as it is drawn."""
    found: list[str] = page.locator(f"#{slug} .annotation-text").all_text_contents()
    return [text for text in found if text.startswith("ε")]


@pytest.mark.parametrize("slug", ["mean", "lvq"])
def test_the_slider_moves_every_chart(page: Page, slug: str):
    slider = page.locator(f"#{slug} input[type=range]")
    finding = page.locator(f"#{slug} .finding")
    slider.fill("0")
    charts = page.locator(f"#{slug} .js-plotly-plot").count()
    before, said = flags(page, slug), finding.text_content()
    assert charts > 1
    assert len(before) == charts
    slider.press("End")
    after = flags(page, slug)
    assert len(after) == charts
    assert not set(before) & set(after)
    assert finding.text_content() != said


def test_nothing_serious_is_found(page: Page):
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in GRAVE] == []


def test_it_fits_a_phone(page: Page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(500)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390


def test_a_report_is_one_page(tmp_path: Path):
    path, home = tmp_path / "report.pdf", str(tmp_path / "home")
    # in a process of its own: the browser of the tests before may still be open in this one
    command = [sys.executable, "-m", "engine", "report", "mean", "--to", str(path)]
    code = subprocess.run(command, cwd=ROOT, env={**os.environ, "EXPLORER_HOME": home}).returncode
    if code == 1 and chromium() is None:
        pytest.skip("no Chromium: install chromium, or `playwright install chromium`")
    assert code == 0
    content = path.read_bytes()
    assert content.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", content)) == 1
