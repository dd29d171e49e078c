"""Guarantee cards as files: every card passes, no changed card does."""

import json
import math
import time

import pytest

from benchmarks import yours
from engine.catalog import catalog
from engine.cli.main import main
from engine.privacy.guarantee import SECRET, Guarantee, Relation
from engine.privacy.mechanisms import Exponential, GammaSphere, GaussianObjective, Laplace
from engine.privacy.releases import Release
from engine.yours import card_file


@pytest.mark.parametrize("slug", sorted(catalog()))
@pytest.mark.thorough
def test_every_card_is_in_order_and_comes_back_from_a_file(slug, tmp_path):
    for entry in catalog()[slug].methods:
        document = yours.made(slug, entry.name)
        path = tmp_path / f"{entry.name}.json"
        path.write_text(json.dumps(document))
        again = card_file.read(path)
        assert again == json.loads(json.dumps(document))
        assert card_file.verify(again) == [], entry.name


@pytest.mark.parametrize("renewed", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_no_changed_card_passes(renewed):
    """100 cards with one value changed; also where the digest is computed again."""
    tried = list(yours.tampered(renewed))
    assert len(tried) == 100
    assert [way for way, passes in tried if passes] == []


def test_a_changed_card_ends_the_command_with_one(tmp_path):
    document, path = yours.made("mean", "laplace"), tmp_path / "card.json"
    path.write_text(json.dumps(document))
    assert main(["card", "verify", str(path)]) == 0
    path.write_text(json.dumps({**document, "records": 3}))
    assert main(["card", "verify", str(path)]) == 1


def test_a_card_of_this_version_does_not_claim_secret_noise():
    document = yours.made("survival", "dp_newton")
    document["guarantee"]["secret"], document["guarantee"]["limits"] = True, list(SECRET)
    document["digest"] = card_file.digest(document)
    said = "guarantee/secret differs from the card that this program makes."
    assert card_file.verify(document) == [said]


def test_of_another_version_only_the_price_is_checked_and_so_it_is_said(tmp_path, capsys):
    document, path = yours.made("mean", "laplace"), tmp_path / "card.json"
    document |= {"program": "Epsilon Explorer 0.0.1"}
    document["guarantee"]["unit"] = "a hospital"
    document["digest"] = card_file.digest(document)
    path.write_text(json.dumps(document))
    assert main(["card", "verify", str(path)]) == 0
    assert "who is protected, and why, was not compared" in capsys.readouterr().out
    assert main(["card", "verify", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["compared"] is False


def test_a_guarantee_that_the_releases_do_not_prove_is_refused():
    """A card of nobody's paper, with its digest right and ε too small."""
    document = {**yours.made("mean", "laplace"), "paper": "elsewhere"}
    document["guarantee"]["epsilon_proved"] = 0.5
    document["digest"] = card_file.digest(document)
    assert card_file.verify(document)[0].startswith("The releases cost ε = 1")


def test_a_card_that_proves_nothing_states_no_curve():
    document = {**yours.made("mean", "exact"), "paper": "elsewhere", "mu": 0.01}
    document["profile"] = {"epsilons": [0.0], "deltas": [1e-9]}
    document["digest"] = card_file.digest(document)
    assert card_file.verify(document) == ["Nothing is proved, and the card states mu and profile."]


def test_pure_noise_on_samples_is_refused_where_a_record_is_replaced():
    r"""It was priced as if one were removed; a record that adds 1 or 2 shows twice as much."""
    release = Release(Laplace(1.0, 1.0), rate=0.1, what="sum")
    epsilon = math.log1p(0.1 * math.expm1(1.0))
    body = {"program": "Other 1", "paper": "x", "method": "y", "dataset": "z", "settings": {},
            "records": 100, "rows": 1, "delta_of_a_row": 0.0}  # fmt: skip

    def verified(relation: Relation) -> list[str]:
        card = Guarantee(
            mechanism="Laplace", status="proved", epsilon_claimed=None, epsilon_proved=epsilon,
            delta=0.0, relation=relation, unit="a person",
        )  # fmt: skip
        return card_file.verify(card_file.signed(body, (release,), card))

    assert verified("add_or_remove_one") == []
    (said,) = verified("replace_one")
    assert "expected one record added, removed or left out for pure noise on samples" in said


WHOLE, ABOVE = "a whole number", 'a number above 0, or "inf"'
AMOUNT = "a number of at least 0"
WRONG = {
    ("releases", "mechanism", "epsilon"): (ABOVE, [-7.9, 0, -1e300, "-inf", "nan", True]),
    ("releases", "mechanism", "multiplier"): (AMOUNT, [-2.0, -1e-9, "-1"]),
    ("releases", "mechanism", "sensitivity"): (ABOVE, [-1.0, 0]),
    ("releases", "mechanism", "ratio"): (AMOUNT, [-7.9, -1e-9, "-inf"]),
    ("releases", "mechanism", "dimension"): (WHOLE, [-3, 0, 1.5, 10**10]),
    ("releases", "mechanism", "freedom"): (WHOLE, [-1, 0, 0.5, 10**10]),
    ("releases", "times"): (WHOLE, [-1, 0.5, 10**10, True]),
    ("releases", "rate"): ("a number from 0 to 1", [-0.1, 1.5, "inf"]),
    ("releases", "first"): (WHOLE, [-2, 0.5, 10**10]),
    ("releases", "disjoint"): (WHOLE, [0, -1, 2.5, 10**10]),
    ("delta_of_a_row",): ("a number from 0 to less than 1", [-1e-5, 1, "inf"]),
    ("guarantee", "delta"): ("a number from 0 to less than 1", [-1e-5, 1.0]),
    ("guarantee", "epsilon_proved"): (AMOUNT, [-1.0, "-inf", "nan"]),
    ("guarantee", "epsilon_claimed"): (AMOUNT, [-1.0, "nan"]),
    ("records",): ("a whole number of at least 1", [0, -5, 2.5]),
    ("rows",): ("a whole number from 1 to 1,000,000", [0, -1, 1.5, 10**9]),
}
"""Numbers that no card has, by where they stand, and what is expected there."""


@pytest.mark.parametrize(
    ("place", "value"), [(place, value) for place, (_, wrong) in WRONG.items() for value in wrong]
)
def test_a_number_that_no_release_has_is_refused(place, value, tmp_path, capsys):
    """A negative ε was added to the price of the other releases, and lowered it."""
    document, path = yours.made("mean", "laplace"), tmp_path / "card.json"
    at = document[place[0]] if len(place) > 1 else document
    at = at[0] if place[0] == "releases" else at
    at = at["mechanism"] if "mechanism" in place else at
    at[place[-1]] = value
    path.write_text(json.dumps({**document, "digest": card_file.digest(document)}))
    assert main(["card", "verify", str(path)]) == 1
    said = capsys.readouterr().err
    name = "/".join(place).replace("releases", "releases/0")
    assert said.startswith(f"{name}: expected {WRONG[place][0]}"), said


@pytest.mark.parametrize(
    ("kinds", "price"),
    [
        ([GammaSphere(1.0, 8.0, 3, -7.9)], 0.1),
        ([Laplace(1.0, 8.0), Exponential(1.0, -7.9)], 0.1),
        ([Laplace(1.0, -8.0)], 0.1),
        ([GaussianObjective(1.0, 0.5, 1, -6.0)], 0.5),
    ],
)
def test_a_negative_part_does_not_lower_a_price(kinds, price, tmp_path, capsys):
    body = {"program": "Other 1", "paper": "x", "method": "y", "dataset": "z", "settings": {},
            "records": 100, "rows": 1, "delta_of_a_row": 1e-5}  # fmt: skip
    card = Guarantee(
        mechanism="noise", status="proved", epsilon_claimed=None, epsilon_proved=None, delta=1e-5,
        relation="replace_one", unit="a person",
    )  # fmt: skip
    made = card_file.signed(body, tuple(Release(kind, what="sum") for kind in kinds), card)
    made["guarantee"]["epsilon_proved"] = price
    path = tmp_path / "card.json"
    path.write_text(json.dumps({**made, "digest": card_file.digest(made)}))
    assert main(["card", "verify", str(path)]) == 1
    assert ": expected a number " in capsys.readouterr().err


def test_a_card_of_a_thousand_million_rows_is_refused_at_once(tmp_path, capsys):
    """Each row was added up in turn, and a small δ left the sum below 1 for hours."""
    document, path = yours.made("mean", "gaussian"), tmp_path / "card.json"
    document |= {"rows": 10**9, "delta_of_a_row": 1e-300}
    path.write_text(json.dumps({**document, "digest": card_file.digest(document)}))
    began = time.process_time()  # whatever else the machine does
    assert main(["card", "verify", str(path)]) == 1
    assert time.process_time() - began < 10.0
    assert "rows: expected a whole number from 1 to 1,000,000" in capsys.readouterr().err


def test_releases_that_no_machine_can_add_up_are_a_sentence(tmp_path, capsys, monkeypatch):
    """Ten million steps with half of the records in each ask for 25 GB."""

    def full(*_):
        raise MemoryError("Unable to allocate 25.0 GiB")

    document, path = yours.made("mean", "gaussian"), tmp_path / "card.json"
    monkeypatch.setattr(card_file, "cost", full)
    path.write_text(json.dumps({**document, "paper": "elsewhere"}))
    assert main(["card", "verify", str(path)]) == 1
    assert "cannot be priced: Unable to allocate" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "x"}', "null", '"' * 9])
def test_what_is_no_card_is_one_sentence(text, tmp_path, capsys):
    path = tmp_path / "card.json"
    path.write_text(text)
    assert main(["card", "verify", str(path)]) == 1
    assert "expected" in capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.parametrize(
    "asked",
    [
        ["mean", "laplace"],
        ["mean", "gaussian", "--exact"],
        ["survival", "out_pert", "--set", "intervals=5"],
    ],
)
def test_the_card_of_a_release_is_checked_and_a_changed_one_is_refused(
    asked, tmp_path, monkeypatch, capsys
):
    """The file that the README calls the guarantee, to check and to cite."""
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    folder = tmp_path / "out"
    assert main(["run", *asked, "--release", "--to", str(folder)]) == 0
    assert "card verify card.json" in (folder / "README.md").read_text()
    path = folder / "card.json"
    capsys.readouterr()
    assert main(["card", "verify", str(path)]) == 0
    assert capsys.readouterr().out.startswith("In order: ε = 1 is proved")
    document = json.loads(path.read_text())
    assert document["guarantee"]["secret"]
    assert main(["card", "registry", str(path), "--to", str(tmp_path / "entry.yaml")]) == 0
    for change in (
        {"guarantee": {**document["guarantee"], "epsilon_proved": 0.5}},
        {"guarantee": {**document["guarantee"], "secret": False}},
        {"registry": {**document["registry"], "unfilled": []}},
        {"settings": {**document["settings"], "epsilon": 0.5}},
        {"release": None},
    ):
        changed = {name: value for name, value in {**document, **change}.items() if value}
        changed["mu"], changed["profile"] = document["mu"], document["profile"]
        if "curves" in document:
            changed["curves"] = document["curves"]
        path.write_text(json.dumps({**changed, "digest": card_file.digest(changed)}))
        assert main(["card", "verify", str(path)]) == 1, change


def test_every_card_of_an_export_is_checked(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    line = ["run", "mean", "laplace", "--sweep", "epsilon=0.5,2", "--seeds", "2"]
    assert main([*line, "--json"]) == 0
    run = json.loads(capsys.readouterr().out)["run"]
    assert main(["export", run, "--to", str(tmp_path / "out")]) == 0
    path = tmp_path / "out" / "released" / "card.json"
    capsys.readouterr()
    assert main(["card", "verify", str(path)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in said] == ["points/0", "points/1"]
    assert "ε = 2 is proved" in said[1]
    assert main(["card", "verify", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [card["epsilon_proved"] for card in told["cards"]] == pytest.approx([0.5, 2.0])
    content = json.loads(path.read_text())
    content["points"][1]["card"]["records"] = 3
    path.write_text(json.dumps(content))
    assert main(["card", "verify", str(path)]) == 1
    assert "points/1: The digest does not match" in capsys.readouterr().err
    content = json.loads(path.read_text())
    content["points"][0]["guarantee"]["epsilon_proved"] = 0.1
    path.write_text(json.dumps(content))
    assert main(["card", "verify", str(path)]) == 1
    assert "points/0/guarantee: expected that of the card" in capsys.readouterr().err


def test_a_card_without_its_releases_is_said_to_be_one(tmp_path, capsys):
    """As releases of earlier versions have it, choices, searches and bundles."""
    path = tmp_path / "card.json"
    for content in ({"method": "mean/laplace", "guarantee": {}}, {"points": [{"epsilon": 1.0}]}):
        path.write_text(json.dumps(content))
        assert main(["card", "verify", str(path)]) == 1
        assert "expected a card with its releases" in capsys.readouterr().err


def test_a_release_of_a_table_that_is_elsewhere_is_priced_and_so_it_is_said(capsys, tmp_path):
    document, path = yours.made("mean", "laplace"), tmp_path / "card.json"
    document["dataset"] = "own_heart_01234567"
    document["digest"] = card_file.digest(document)
    path.write_text(json.dumps(document))
    assert main(["card", "verify", str(path)]) == 0
    assert "who is protected, and why, was not compared" in capsys.readouterr().out
