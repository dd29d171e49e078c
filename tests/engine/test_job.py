"""A job is a value: the same request has the same id, however it is written."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.core.errors import RequestError, SpecError
from engine.core.spec import Choice, Knob, knobs
from engine.runs.job import MOST_REPLICAS, MOST_STEPS, Job, request
from tests.engine.toy import ToySpec

lenient = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def values_of(knob: Knob | Choice, whole: bool) -> st.SearchStrategy[Any]:
    """Values that a knob admits, both ends included."""
    if isinstance(knob, Choice):
        return st.sampled_from(knob.options)
    low, high = knob.bounds
    return st.integers(int(low), int(high)) if whole else st.floats(low, high)


WHOLE = {"steps"}
FIELDS = {name: values_of(knob, name in WHOLE) for name, knob in knobs(ToySpec).items()}
calm = {"pause": st.floats(0.0, 1.0)}  # a long pause contradicts many steps
settings_of = st.fixed_dictionaries({}, optional={**FIELDS, **calm})
axes_of = st.fixed_dictionaries(
    {},
    optional={
        name: st.lists(FIELDS[name], min_size=1, max_size=4) for name in ("epsilon", "scale")
    },
)
seeds_of = st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=5)


def ask(values: Mapping[str, Any], axes: Mapping[str, Any], seeds: Any) -> Job:
    free = {field: value for field, value in values.items() if field not in axes}
    return request("toy", "count", "flchain", free, axes, seeds)


@lenient
@given(values=settings_of, axes=axes_of, seeds=seeds_of)
def test_a_request_of_a_job_is_that_job(toy, values, axes, seeds):
    job = ask(values, axes, seeds)
    again = request(job.paper, job.method, job.dataset, job.values, job.axes, job.seeds)
    assert again == job
    assert again.id == job.id
    assert job.batch().specs[0] == job.spec()
    assert len(job.batch()) == job.replicas()


@lenient
@given(values=settings_of, axes=axes_of, seeds=seeds_of, data=st.data())
def test_the_order_of_fields_does_not_matter(toy, values, axes, seeds, data):
    shuffled = dict(data.draw(st.permutations(list(values.items()))))
    assert ask(values, axes, seeds).id == ask(shuffled, axes, seeds).id


@lenient
@given(values=settings_of, axes=axes_of, seeds=seeds_of)
def test_a_job_survives_json(toy, values, axes, seeds):
    job = ask(values, axes, seeds)
    assert Job.read(job.text()) == job
    assert Job.read(json.dumps(json.loads(job.text()))).id == job.id


@lenient
@given(values=settings_of, axes=axes_of, seeds=seeds_of)
def test_texts_and_numbers_are_the_same_request(toy, values, axes, seeds):
    texts = {field: str(value) for field, value in values.items()}
    swept = {field: [str(value) for value in column] for field, column in axes.items()}
    assert ask(texts, swept, seeds).id == ask(values, axes, seeds).id


@lenient
@given(first=settings_of, second=settings_of)
def test_different_settings_have_different_ids(toy, first, second):
    one, other = ask(first, {}, (0,)), ask(second, {}, (0,))
    assert (one.id == other.id) == (one.values == other.values)


def test_repeated_axis_values_and_seeds_are_dropped(toy):
    job = toy({"scale": ["1", 1.0, 2]}, seeds=(3, 3, 1))
    assert job.axes == {"scale": (1.0, 2.0)}
    assert job.seeds == (3, 1)


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"paper_slug": "no"}, RequestError, "paper: expected one of .*, got 'no'"),
        ({"method": "no"}, RequestError, "method: expected one of count, got 'no'"),
        ({"dataset": "no"}, RequestError, "dataset: expected one of flchain, digits, got 'no'"),
        ({"values": {"no": 1}}, SpecError, "no: expected one of the fields epsilon, "),
        ({"values": {"scale": 9.1}}, SpecError, "scale: expected a number from 0 to 9, got 9.1"),
        ({"values": {"scale": "nan"}}, SpecError, "scale: expected a number from 0 to 9, got nan"),
        ({"values": {"scale": "a"}}, SpecError, "scale: expected a number from 0 to 9, got 'a'"),
        ({"values": {"steps": 1.5}}, SpecError, "steps: expected a whole number, got 1.5"),
        ({"values": {"behaviour": "x"}}, SpecError, "behaviour: expected one of count, "),
        ({"axes": {"steps": [1, 2]}}, RequestError, "steps: expected an axis to sweep"),
        ({"axes": {"scale": []}}, RequestError, "scale: expected at least one value"),
        ({"axes": {"no": [1]}}, SpecError, "no: expected one of the fields"),
        (
            {"axes": {"scale": [1, 2]}, "values": {"scale": 3}},
            RequestError,
            "scale: expected a value or a sweep, got both",
        ),
        ({"seeds": ()}, RequestError, f"expected 1 to {MOST_REPLICAS} replicas, got 0"),
        ({"seeds": range(MOST_REPLICAS + 1)}, RequestError, "replicas, got 100001"),
        ({"seeds": (-1,)}, RequestError, "seeds: expected whole numbers from 0"),
        ({"seeds": (2**31,)}, RequestError, "seeds: expected whole numbers from 0"),
        ({"values": {"steps": 60_000, "pause": 2}}, SpecError, "pause: expected at most 1"),
    ],
)
def test_what_does_not_fit_is_one_sentence(toy, change, error, says):
    asked = {"paper_slug": "toy", "method": "count", "dataset": "flchain", **change}
    with pytest.raises(error, match=says) as caught:
        request(**asked)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("field", [name for name, k in knobs(ToySpec).items() if k.axis])
def test_both_ends_of_a_knob_are_admitted(toy, field):
    low, high = knobs(ToySpec)[field].bounds
    assert toy({field: (low, high)}).replicas() == 2


@pytest.mark.parametrize(
    ("paper", "method", "values", "says"),
    [
        ("lvq", "glvq_dp", {"sample_rate": 1e-6}, "sample_rate: .* got 1e-06, .* 5,000,000"),
        ("lvq", "glvq_sgd", {"epochs": 1e5, "sample_rate": 0.05}, "epochs: .* got 100000, .* 2,"),
        ("enadpp", "psgd", {"sample_rate": 1e-6}, "sample_rate: .* got 1e-06, .* 20,000,000"),
        ("pcdbn", "psgd", {"sample_rate": 1e-5}, "sample_rate: .* got 1e-05, .* 1,800,000"),
    ],
)
def test_millions_of_training_steps_are_one_sentence(paper, method, values, says):
    with pytest.raises(RequestError, match=says) as caught:
        request(paper, method, "digits", values)
    assert "\n" not in str(caught.value)
    assert f"at most {MOST_STEPS:,} training steps" in str(caught.value)


def test_as_many_training_steps_as_are_admitted_are_a_job():
    one = request("lvq", "glvq_dp", "digits", {"epochs": 1e5, "sample_rate": 0.1})
    assert one.entry().steps(one.spec(), 1_797) == MOST_STEPS


@pytest.mark.parametrize("value", ["many", True, None, [1.0]])
@pytest.mark.parametrize("field", ["learning_rate", "epsilon"])
def test_what_is_no_number_is_one_sentence_in_a_request(field: str, value: object):
    with pytest.raises(SpecError, match=rf"^{field}: expected a number .*, got ") as raised:
        request("enadpp", "dpsgd", "digits", {field: value})
    assert "\n" not in str(raised.value)
