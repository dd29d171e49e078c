"""Knobs stand at what a paper sets for the data set that is chosen."""

from types import SimpleNamespace

from engine.catalog import paper
from pages.ui.kit import address
from pages.ui.paper import choice, defaults
from pages.ui.paper.view import offers


def knobs(dataset=""):
    return offers(paper("enadpp"), defaults.layout("enadpp"), dataset).knobs


def test_a_page_offers_the_settings_of_the_data_set():
    assert knobs("mnist")["representation"].default == "Whitened features"
    assert knobs("adni")["representation"].default == "Scattering features"
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
