"""A spec admits what its knobs admit, and nothing else, from wherever a value comes."""

import math
from dataclasses import dataclass, fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.catalog import catalog
from engine.core.errors import SpecError
from engine.core.spec import Annotated, Choice, Knob, Spec, knobs


@dataclass(frozen=True, kw_only=True)
class Toy(Spec):
    size: Annotated[float, Knob("Size", "s", (0.5, 8.0), (1.0, 4.0), help="A size.")] = 2.0
    count: Annotated[int, Knob("Count", "n", (1, 9), (1, 5), help="A count.")] = 3
    kind: Annotated[str, Choice("Kind", ("a", "b"), ("First", "Second"), help="A kind.")] = "a"


@given(st.floats(0.5, 8.0), st.integers(1, 9), st.sampled_from("ab"))
def test_a_spec_survives_text(size, count, kind):
    spec = Toy(size=size, count=count, kind=kind)
    assert Toy.parse({field: str(value) for field, value in spec.values().items()}) == spec


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_no_number_outside_the_bounds_is_admitted(size):
    if 0.5 <= size <= 8.0:
        assert Toy(size=size).size == size
    else:
        with pytest.raises(SpecError, match=r"^size: expected a number from 0.5 to 8, got "):
            Toy(size=size)


@given(st.text(max_size=12))
def test_no_text_breaks_the_reader(text):
    for field in ("size", "count", "kind"):
        try:
            value = Toy.read(field, text)
        except SpecError as error:
            assert error.field == field
            assert str(error).startswith(f"{field}: expected")
        else:
            assert Toy(**{field: value})


@pytest.mark.parametrize("value", [True, None, [1.0], "2", math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(SpecError):
        Toy(size=value)


def test_a_fraction_is_no_count():
    with pytest.raises(SpecError, match=r"count: expected a whole number, got '2.5'"):
        Toy.parse({"count": "2.5"})
    assert Toy.parse({"count": "4.0"}).count == 4


def test_an_unknown_field_is_named():
    with pytest.raises(SpecError, match="expected one of the fields size, count, kind"):
        Toy.parse({"colour": 1})


@pytest.mark.parametrize("paper", catalog().values(), ids=lambda p: p.slug)
def test_every_field_has_a_knob_that_explains_itself(paper):
    assert list(knobs(paper.spec)) == [field.name for field in fields(paper.spec)]
    for field, knob in knobs(paper.spec).items():
        assert knob.label
        assert knob.help.endswith("."), field
        if isinstance(knob, Knob):
            low, high = knob.range
            assert knob.bounds[0] <= low < high <= knob.bounds[1], field
            assert all(low <= value <= high for value in knob.grid), field
            assert list(knob.grid) == sorted(set(knob.grid)), field
        else:
            assert len(set(knob.labels)) == len(knob.options), field
            assert all(text[0].isupper() and "_" not in text for text in knob.labels), field


def test_an_option_has_a_label():
    kind = knobs(Toy)["kind"]
    assert [kind.text(value) for value in "ab"] == ["First", "Second"]
    with pytest.raises(ValueError, match="Kind: expected a label for each of 2 options, got 1"):
        Choice("Kind", ("a", "b"), ("First",))


@pytest.mark.parametrize("paper", catalog().values(), ids=lambda p: p.slug)
def test_both_ends_of_every_knob_are_admitted_and_nothing_beyond(paper):
    for field, knob in knobs(paper.spec).items():
        if isinstance(knob, Knob):
            low, high = knob.bounds
            for inside in (low, high):
                assert paper.spec.read(field, inside) == inside
            for outside in (math.nextafter(low, -math.inf), high + max(1.0, abs(high))):
                with pytest.raises(SpecError):
                    paper.spec.read(field, outside)
