"""Knobs stand at what a paper sets for the data set that is chosen."""

from types import SimpleNamespace
from urllib.parse import parse_qsl

import pytest

from engine.catalog import paper
from engine.runs.job import request
from pages.ui.kit import address, shell
from pages.ui.paper import choice, defaults
from pages.ui.paper.view import offers
from tests.pages.conftest import Open
from tests.pages.drawn import texts


def knobs(dataset=""):
    return offers(paper("enadpp"), defaults.layout("enadpp"), dataset).knobs


def test_a_page_offers_the_settings_of_the_data_set():
    assert knobs("mnist")["representation"].default == "Whitened features of upright images"
    assert knobs("fashion")["representation"].default == "Whitened features"
    assert knobs("adni")["representation"].default == "Scattering features"
    assert knobs("segment")["representation"].default == knobs("digits")["representation"].default
    assert (knobs()["momentum"].default, knobs("mnist")["momentum"].default) == ("0.5", "0.9")


def test_the_first_visit_asks_for_the_settings_of_the_first_data_set():
    publication, layout = paper("enadpp"), defaults.layout("enadpp")
    offered = offers(publication, layout)
    job = choice.jobs(publication, choice.untouched(offered), (1.0,))["dpsgd"]
    assert (job.values["representation"], job.values["momentum"]) == ("whitened", 0.5)
    assert "momentum" not in address.link(job)


def test_a_knob_that_was_not_moved_follows_the_data_set(monkeypatch):
    said = {"enadpp.momentum": "0.5", "enadpp.representation": "Pixels"}
    monkeypatch.setattr(address, "st", SimpleNamespace(session_state=said))
    address.turn("enadpp", "mnist", knobs("digits"), knobs("mnist"))
    assert said == {
        "enadpp.momentum": "0.9",
        "enadpp.representation": "Pixels",
        "enadpp.turned": "mnist",
    }


@pytest.mark.parametrize("rest", [{}, {"repeats": "20"}, {"epochs": "200"}])
@pytest.mark.parametrize("slug", sorted(shell.papers()))
def test_the_address_of_a_job_opens_with_its_run_and_its_method(slug: str, rest: dict[str, str]):
    page = defaults.addressed(slug, {f"{slug}.{name}": text for name, text in rest.items()})
    for entry in page.paper.methods:
        if entry.role != "reference":
            query = dict(parse_qsl(defaults.link(page.jobs[entry.name]).partition("?")[2]))
            opened = defaults.addressed(slug, query)
            assert opened.jobs[entry.name].id == page.jobs[entry.name].id
            assert opened.chosen.method == entry.name
            assert rest or opened.chosen.repeats == page.chosen.repeats


def test_the_address_of_a_job_names_no_repetitions_that_are_not_its_own():
    """No page repeats with these seeds: it opens with as many as it has at first."""
    own, other = (
        request("enadpp", "dpsgd", "digits", {}, {}, seeds) for seeds in (range(5), range(1, 6))
    )
    assert "repeats=5" in defaults.link(own)
    assert "repeats" not in defaults.link(other)


def test_the_address_of_a_reference_names_no_method():
    """None is looked at: the menu of a page has what is private."""
    assert "method" not in defaults.link(defaults.opening("survival")["cox"])


@pytest.mark.parametrize("slug", sorted(shell.papers()))
def test_three_settings_stand_open_at_most_and_the_main_sliders_among_them(slug: str):
    layout = defaults.layout(slug)
    known = offers(paper(slug), layout).knobs
    stand = layout.open(known)
    assert stand == layout.first
    assert 1 <= len(stand) <= 3
    assert {field for group in layout.stops for field in group} <= set(stand)
    assert set(layout.needs) <= set(known)


@pytest.mark.parametrize(("said", "idle"), [("As printed", "noise"), ("With proof", "reading")])
def test_a_setting_that_another_one_leaves_without_a_meaning_is_grey(
    visit: Open, said: str, idle: str
):
    test = visit("enadpp", **{"enadpp.calibration": said})
    assert not test.exception
    noise = test.segmented_control(key="enadpp.noise")
    reading = test.selectbox(key="enadpp.noise_reading")
    assert (noise.disabled, reading.disabled) == (idle == "noise", idle == "reading")
    grey = noise if idle == "noise" else reading
    assert grey.label.endswith("(only with proof)" if idle == "noise" else "(only as printed)")


def test_settings_that_the_method_does_not_use_say_so(visit: Open):
    test = visit("survival")
    assert "Not used by Private Newton; it changes other lines." in texts([test])  # Λ stands open
    test.menu_button(key="survival.method.menu").click("Output perturbation").run()
    assert not test.exception
    words = texts([test])
    assert "Not used by Output perturbation; these change other lines:" in words
    assert "it changes other lines" not in words
