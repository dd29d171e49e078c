"""Guarantee cards as files: every card passes, no changed card does."""

import json
import math

import pytest

from benchmarks import yours
from engine.catalog import catalog
from engine.cli.main import main
from engine.privacy.guarantee import SECRET, Guarantee, Relation
from engine.privacy.mechanisms import Laplace
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


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "x"}', "null", '"' * 9])
def test_what_is_no_card_is_one_sentence(text, tmp_path, capsys):
    path = tmp_path / "card.json"
    path.write_text(text)
    assert main(["card", "verify", str(path)]) == 1
    assert "expected" in capsys.readouterr().err
