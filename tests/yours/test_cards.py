"""Guarantee cards as files: every card passes, no changed card does; runs of other libraries."""

import json
import math
import random

import pytest
from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent, SelfComposedDpEvent
from dp_accounting.pld import PLDAccountant

from engine.catalog import catalog
from engine.cli.main import main
from engine.core.errors import RequestError
from engine.runs.job import request
from engine.yours import card_file, library_run

RUN = {
    "library": "Some Library 1.0", "records": 60_000, "noise_multiplier": 1.1, "steps": 1_200,
    "clipping_norm": 1.0, "sampling": "poisson", "rate": 0.01, "epsilon_claimed": 1.4,
    "delta": 1e-5,
}  # fmt: skip


def made(slug, method, **values):
    """A card of a method as its page opens."""
    paper = catalog()[slug]
    begins, uses = paper.begins(method, paper.datasets[0]), paper.entry(method).uses
    opening = {field: begins[field] for field in paper.opening if field in uses}
    return card_file.of_job(request(slug, method, paper.datasets[0], {**opening, **values}))


@pytest.mark.parametrize("slug", sorted(catalog()))
def test_every_card_is_in_order_and_comes_back_from_a_file(slug, tmp_path):
    for entry in catalog()[slug].methods:
        document = made(slug, entry.name)
        path = tmp_path / f"{entry.name}.json"
        path.write_text(json.dumps(document))
        again = card_file.read(path)
        assert again == json.loads(json.dumps(document))
        assert card_file.verify(again) == [], entry.name


def places(value, path=()):
    """Every place in a document where a value stands."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from places(part, (*path, name))
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from places(part, (*path, i))
    else:
        yield path


def changed(value, rng):
    """Another value of the same kind."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        return value + rng.choice((-1, 1))
    if isinstance(value, float):
        return value * rng.choice((0.5, 2.0)) or 1.0
    return value[:-1] + "x" if value else "x"


@pytest.mark.parametrize("resigned", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_no_changed_card_passes(resigned, tmp_path):
    """100 cards with one value changed; also where the digest is computed again."""
    rng, passed = random.Random(5), []
    documents = [made("mean", "gaussian"), made("survival", "dp_newton"), made("mean", "laplace")]
    for number in range(100):
        document = json.loads(json.dumps(documents[number % 3]))
        path = tmp_path / "card.json"
        path.write_text(json.dumps(document))
        assert number > 2 or main(["card", "verify", str(path)]) == 0
        *way, last = rng.choice(list(places(document)))
        part = document
        for name in way:
            part = part[name]
        before, part[last] = part[last], changed(part[last], rng)
        if resigned and last != "digest":
            document["digest"] = card_file.digest(document)
        path.write_text(json.dumps(document))
        if main(["card", "verify", str(path)]) == 0:
            passed.append(((*way, last), before))
    # With a new digest, others' cards are priced alone, and another setting is another card.
    outside = ("program", "paper", "settings") if resigned else ()
    assert [way for way, _ in passed if way[0] not in outside] == []


def test_a_guarantee_that_the_releases_do_not_prove_is_refused():
    """A card of nobody's paper, with its digest right and ε too small."""
    document = {**made("mean", "laplace"), "paper": "elsewhere"}
    document["guarantee"]["epsilon_proved"] = 0.5
    document["digest"] = card_file.digest(document)
    assert card_file.verify(document)[0].startswith("The releases cost ε = 1")


@pytest.mark.parametrize(
    ("noise", "rate", "steps"),
    [(1.1, 0.01, 1_200), (0.7, 0.005, 500), (2.0, 0.1, 300), (1.0, 0.02, 50), (4.0, 0.5, 200)],
)
def test_a_recorded_run_costs_what_the_accountant_says(noise, rate, steps):
    told = {**RUN, "noise_multiplier": noise, "rate": rate, "steps": steps}
    event = SelfComposedDpEvent(PoissonSampledDpEvent(rate, GaussianDpEvent(noise)), steps)
    expected = PLDAccountant(value_discretization_interval=1e-3).compose(event).get_epsilon(1e-5)
    assert library_run.checked(told).epsilon() == pytest.approx(expected, rel=0.01)


def test_shuffled_batches_are_priced_as_they_ran():
    """An epoch of shuffled batches is one release: 12 epochs at noise 1.1, by hand μ = √12/1.1."""
    run = library_run.checked({**RUN, "sampling": "shuffled"})
    card = library_run.card(run)
    (release,) = run.releases()
    assert release.met() == 12
    assert card.epsilon_proved > 5 * run.epsilon("poisson")
    assert f"{run.epsilon('poisson'):.4g}" in " ".join(card.reasons)
    assert "less than is proved" in " ".join(card.reasons)
    assert library_run.document(run)["mu"] == pytest.approx(math.sqrt(12) / 1.1)


def test_a_file_of_a_run_becomes_a_card(tmp_path, capsys):
    file, card = tmp_path / "run.json", tmp_path / "card.json"
    file.write_text(json.dumps({"format": library_run.FORMAT, "version": 1, **RUN}))
    assert main(["card", "library", str(file), "--to", str(card)]) == 0
    assert main(["card", "verify", str(card), "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["right"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rate", 2.0), ("steps", 1.5), ("records", None), ("noise_multiplier", "1"),
        ("sampling", "some"), ("library", ""), ("results", 3), ("colour", "red"), ("delta", True),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named(field, value):
    with pytest.raises(RequestError, match=f"{field}: expected"):
        library_run.checked({**RUN, field: value})


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "x"}', "null", '"' * 9])
def test_what_is_no_card_is_one_sentence(text, tmp_path, capsys):
    path = tmp_path / "card.json"
    path.write_text(text)
    assert main(["card", "verify", str(path)]) == 1
    assert "expected" in capsys.readouterr().err
