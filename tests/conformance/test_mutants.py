"""Tests of the checks: a small method passes them all, and each broken promise is caught."""

import numpy as np
import pytest

from engine.catalog import paper
from engine.conformance import checks
from engine.conformance.neighbours import extreme
from engine.conformance.play import Case, case, some_multiplier
from engine.papers.survival.likelihood.scale import survival
from engine.papers.survival.mechanisms import compared
from tests.audit import planted
from tests.conformance import mutants

ONLY_EPSILON = {"uses": ("epsilon",)}
MUTANTS = {
    "no noise": ("NO_NOISE", {}, checks.noise_has_the_priced_scale),
    "half the sensitivity": (
        "HALF", {"releases": mutants.half_releases}, checks.neighbours_stay_within_the_sensitivity,
    ),
    "no clipping": ("UNCLIPPED", {}, checks.neighbours_stay_within_the_sensitivity),
    "a card of a tenth of the cost": (
        "SOUND", {"guarantee": mutants.cheap}, checks.card_is_not_below_the_accountant,
    ),
    "a knob left out of uses": ("SOUND", ONLY_EPSILON, checks.other_fields_change_nothing),
    "records kept in self": ("KEEPER", {}, checks.nothing_is_kept),
    "a fixed generator": ("FIXED", {}, checks.seeds_draw_differently),
    "noise drawn and forgotten": ("DISCARDS", {}, checks.seeds_draw_differently),
    "noise of half the scale": ("QUIET", {}, checks.released_gauges_follow_from_releases),
    "noise of another budget": ("TUNED", {}, checks.draws_what_it_declares),
    "noise added by hand": ("BY_HAND", {}, checks.draws_what_it_declares),
    "asked twice, paid once": ("TWICE", {}, checks.draws_what_it_declares),
    "a knob in uses that does nothing": (
        "SOUND", {"uses": ("epsilon", "bound", "idle")}, checks.used_fields_change_numbers,
    ),
}  # fmt: skip
"""Variant, changes of its entry, and the check that must fail."""


def made(method: str, **changes) -> Case:
    paper = mutants.paper(method, **changes)
    return case(paper, paper.methods[0], mutants.column())


@pytest.mark.parametrize("check", checks.ALL, ids=lambda check: check.__name__)
def test_the_sound_method_of_the_mutants_passes(check):
    check(made("SOUND"))


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_caught(name):
    method, changes, check = MUTANTS[name]
    with pytest.raises(AssertionError):
        check(made(method, **changes))


@pytest.mark.parametrize("fault", planted.FAULTS)
def test_a_mutant_among_papers_outside_the_tree_is_caught(fault, outside):
    copy = paper(outside(fault))
    with pytest.raises(AssertionError):
        checks.all_that_is_published_follows_from_releases(case(copy, copy.entry("laplace")))


def test_the_paper_that_the_mutants_are_copies_of_passes(outside):
    copy = paper(outside())
    checks.all_that_is_published_follows_from_releases(case(copy, copy.entry("laplace")))


@pytest.mark.parametrize(
    ("slug", "method"),
    [("survival", "log_rank"), ("mean", "laplace"), ("lvq", "glvq_dp"), ("enadpp", "dpsgd")],
)
def test_a_changed_record_lies_at_the_public_bounds(slug, method):
    table = case(paper(slug), paper(slug).entry(method)).table
    bounds = table.card.bounds
    ends = table.bounds if bounds is None else np.array(bounds.covariates).T
    for end, low in zip(ends, (True, False), strict=True):
        assert (extreme(table, 3, low).x[3] == end).all()


def test_a_changed_record_of_durations_lies_at_the_ends_of_the_study():
    table = case(paper("survival"), paper("survival").entry("log_rank")).table
    assert table.card.bounds.horizon > table.time.max()
    assert extreme(table, 3, low=True).time[3] == 0.0
    assert extreme(table, 3, low=False).time[3] == table.card.bounds.horizon


def test_a_scale_that_is_taken_from_the_records_is_caught(monkeypatch):
    survive = paper("survival")
    tried = case(survive, survive.entry("log_rank"))
    with some_multiplier():
        checks.neighbours_stay_within_the_sensitivity(tried)
        monkeypatch.setattr(
            compared,
            "_bounded",
            lambda data, spec: survival(data, spec.replace(calibration="paper")),
        )
        with pytest.raises(AssertionError, match="a neighbour moves a value by"):
            checks.neighbours_stay_within_the_sensitivity(tried)
