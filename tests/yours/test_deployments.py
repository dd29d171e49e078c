"""Entries of the public registry of deployments: written from cards, and read."""

import json

import pytest
import yaml

from benchmarks import yours
from engine.cli.main import main
from engine.core.errors import ExplorerError
from engine.yours import card_file, deployments

ENTRY = """
url_slug: births
deployment:
  basic:
    name: Births
    data_curators:
    - {data_curator_name: A ministry, data_curator_type: Government}
    publication_date: '2024-01-01'
  privacy_loss:
    privacy_unit: one mother
    privacy_unit_details: one birth is replaced by another
    number_of_privacy_units: 165915
    privacy_parameters: {epsilon: 9.98, delta: '1e-7'}
  implementation:
    mechanisms: Laplace
  administrative:
    evidence_sources:
      first: {evidence_source_type: Other public source, misc: {title: A, url: 'https://a.org'}}
"""


@pytest.mark.parametrize("method", ["laplace", "gaussian", "exact"])
def test_a_card_comes_back_from_an_entry_and_is_in_order(method, tmp_path, capsys):
    card, entry, again = (tmp_path / name for name in ("card.json", "entry.yaml", "again.json"))
    assert main(["card", "make", "mean", method, "--to", str(card)]) == 0
    assert main(["card", "registry", str(card), "--to", str(entry)]) == 0
    told = yaml.safe_load(entry.read_text())["deployment"]
    stated = {"gaussian": {"epsilon": 1.0, "delta": 1e-5}, "laplace": {"epsilon": 1.0}, "exact": {}}
    assert told["privacy_loss"]["privacy_parameters"] == pytest.approx(stated[method])
    assert entry.read_text().startswith("# To be filled in by the curator of the data:\n")
    assert "#   deployment.basic.publication_date\n" in entry.read_text()
    assert told["basic"]["data_curators"] is None
    assert main(["card", "registry", str(entry), "--to", str(again)]) == 0
    assert again.read_text() == card.read_text()
    assert main(["card", "verify", str(again)]) == 0


@pytest.mark.parametrize("field", ["epsilon_proved", "epsilon_claimed"])
def test_an_infinite_budget_is_written(field):
    """It stands as a word in a card, and was taken for a number."""
    document = yours.made("mean", "laplace")
    document["guarantee"][field] = "inf"
    assert "privacy_parameters" in deployments.exported(document)


@pytest.mark.parametrize(
    ("delta", "shown"),
    [
        ("1.4e-5", "1.4 × 10⁻⁵"),
        ("1e-5", "10⁻⁵"),
        ("2e-6", "2 × 10⁻⁶"),
        ("1.41e-9", "1.5 × 10⁻⁹"),
        ("1.40000001e-5", "1.5 × 10⁻⁵"),
    ],
)
def test_a_failure_probability_is_rounded_up(delta, shown):
    (one,) = deployments.read(ENTRY.replace("1e-7", delta))
    assert one.epsilon == f"9.98 (δ = {shown})"


def test_an_entry_of_the_registry_becomes_a_card_that_proves_nothing(tmp_path, capsys):
    entry, card = tmp_path / "entry.yaml", tmp_path / "card.json"
    entry.write_text(ENTRY)
    assert main(["card", "registry", str(entry), "--to", str(card)]) == 0
    document = card_file.read(card)
    stated = document["guarantee"]
    assert (stated["epsilon_claimed"], stated["epsilon_proved"], stated["delta"]) == (
        9.98,
        None,
        1e-7,
    )
    assert (stated["unit"], stated["status"]) == ("one mother", "heuristic")
    assert "one birth is replaced by another" in " ".join(stated["reasons"])
    assert stated["claimant"] == "A ministry states"
    assert document["records"] == 165_915
    assert main(["card", "verify", str(card)]) == 0
    (read,) = deployments.read(ENTRY)
    assert (read.who, read.epsilon) == ("A ministry", "9.98 (δ = 10⁻⁷)")
    assert read.sources == (("A", "https://a.org"),)


LAUGHS = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "got nothing"), ("[", "expected YAML"), ("- 1", "basic/name: expected a value"),
        ("!!python/object/apply:os.system ['true']", "expected YAML"),
        (LAUGHS, "without references"), ("x" * 1_000_001, "at most 1 MB"),
        ("[" * 5_000, "expected YAML"), ("deployment: 3", "basic/name: expected a value"),
        (ENTRY.replace("9.98", "much"), "epsilon: expected a number"),
        (ENTRY.replace("9.98", "-1"), "epsilon: expected a number"),
        (ENTRY.replace("9.98", ".nan"), "epsilon: expected a number"),
        (ENTRY.replace("'1e-7'", "2"), "delta: expected a number below 1"),
        (ENTRY.replace("epsilon: 9.98, ", ""), "epsilon: expected a number"),
        (ENTRY.replace("{data_curator_name: A ministry, data_curator_type: Government}", "x"),
         "expected a table"),
        (f"{ENTRY}---{ENTRY}", "expected one, got 2"),
        (ENTRY.replace("evidence_sources:", "evidence_sources: 3\n    more:"), "expected a table"),
    ],
)  # fmt: skip
@pytest.mark.thorough
def test_what_is_no_entry_is_one_sentence(text, said, tmp_path, capsys):
    path = tmp_path / "entry.yaml"
    path.write_text(text)
    assert main(["card", "registry", str(path)]) in (1, 2)
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error


def test_a_changed_card_within_an_entry_is_refused():
    text = deployments.exported(yours.made("mean", "laplace"))
    assert card_file.verify(deployments.imported(text)) == []

    def with_card(change):
        told = yaml.safe_load(text)
        part = told["deployment"]["implementation"]
        document = json.loads(part["additional_information"].removeprefix(deployments.CARD))
        change(document["guarantee"])
        part["additional_information"] = deployments.CARD + json.dumps(document)
        return deployments.imported(yaml.safe_dump(told))

    assert card_file.verify(with_card(lambda one: None)) == []
    assert card_file.verify(with_card(lambda one: one.update(epsilon_proved=0.5)))
    with pytest.raises(ExplorerError, match="expected"):
        with_card(lambda one: one.update(delta=9.0))
