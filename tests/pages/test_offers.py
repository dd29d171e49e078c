"""What widgets offer, and what addresses are taken to mean."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some

from engine.catalog import catalog
from engine.core.spec import Choice, Knob, knobs
from engine.papers.survival.spec import SurvivalSpec
from pages.ui.kit.offers import MANY, Offer, figure, names, offer

SPECS = [paper.spec for paper in catalog().values()]
each = pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.__name__)
EPSILON = offer(SurvivalSpec, "epsilon", knobs(SurvivalSpec)["epsilon"], 1.0)


def made(spec: type, field: str) -> Offer:
    return offer(spec, field, knobs(spec)[field], spec().values()[field])


@each
def test_every_offered_value_is_admitted_and_found_again_by_its_text(spec):
    for field in knobs(spec):
        one = made(spec, field)
        assert one.default in one.texts
        assert len(set(one.texts)) == len(one.texts) <= MANY + 2
        for text, value in zip(one.texts, one.values, strict=True):
            if isinstance(knobs(spec)[field], Knob):
                assert spec.read(field, text) == value
            assert one.read(str(value)) == (text, "")
            assert one.value(text) == value
            assert one.read(text) == (text, "")


@each
def test_a_slider_reaches_both_ends_of_its_range(spec):
    for field, knob in knobs(spec).items():
        one = made(spec, field)
        if isinstance(knob, Choice):
            assert (one.texts, one.values) == (knob.labels, knob.options)
            continue
        low, high = (min(knob.grid), max(knob.grid)) if knob.grid else knob.range
        assert float(one.values[0]) <= low + 1e-9, field
        last, steps = float(one.values[-1]), [float(b) - float(a) for a, b in pairwise(one.values)]
        ends = bool(knob.grid) or knob.scale == "log"
        assert last >= high - 1e-9 if ends else last + max(steps) > high, field  # no room for more
        assert list(one.values) == sorted(one.values)


@each
def test_junk_falls_back_to_the_default_and_is_told_in_one_sentence(spec):
    for field in knobs(spec):
        one = made(spec, field)
        for raw in ("", "nan", "-inf", "1e99", "-1e99", "half", "<b>", "1; drop"):
            text, note = one.read(raw)
            assert text == one.default, (field, raw)
            assert note.startswith(f"Link value ignored: {field}: expected"), raw
            assert ", got " in note, (field, raw)


def test_case_spaces_and_ways_to_write_a_number_do_not_matter():
    assert names("dataset", ("flchain", "third_births")).read("THIRD+births") == (
        "Third births",
        "",
    )
    assert EPSILON.read(" 1e0") == ("1", "")
    assert EPSILON.read("1.00") == ("1", "")


def test_an_admitted_value_between_two_offers_moves_to_the_nearest_by_ratio():
    text, note = EPSILON.read("7.1")
    assert text == "6.4"
    assert note == "Link value moved: epsilon 7.1 is not on its slider, 6.4 is nearest"
    assert (
        EPSILON.read("7.3")[0] == "8"
    )  # 6.4 * 8 = 7.16 squared: nearest by ratio, not by difference


def test_an_offer_of_names_admits_no_other_name():
    text, note = names("dataset", ("flchain", "wichert")).read("mnist")
    assert (text, "expected one of FLchain, Wichert, got 'mnist'" in note) == ("FLchain", True)


def test_among_keeps_the_default_if_it_can():
    assert EPSILON.among((0.5, 1.0, 2.0)).default == "1"
    assert EPSILON.among((0.5, 2.0, 4.0)).default == "2"


@given(some.floats(1e-9, 1e9))
def test_a_figure_is_read_back_as_the_same_number(value):
    assert math.isclose(float(figure(value)), value, rel_tol=1e-4 if value < 1e-4 else 1e-3)


def test_a_plain_range_becomes_a_ladder_of_round_values():
    spaced = Knob("Rate", "q", (0, 1), (0.0005, 1.0), scale="log")
    from pages.ui.kit.offers import _grid

    assert _grid(spaced, float) == [
        0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0,
    ]  # fmt: skip
    assert _grid(Knob("Epochs", "E", (1, 500), (1, 200)), int)[:3] == [1, 6, 11]
