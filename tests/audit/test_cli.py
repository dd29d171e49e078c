"""`audit`: three numbers on one line, and wrong requests in one sentence."""

import json

import pytest

from engine.audit import statistics
from engine.audit.report import Audit
from engine.cli.main import main
from tests.audit import planted

APART = statistics.apart
SMALL = ["--dataset", "flchain", "--set", "intervals=10"]


def test_an_audit_is_one_object(capsys):
    asked = ["audit", "survival", "out_pert", *SMALL, "--replicas", "60", "--json"]
    assert main(asked) == 0
    actual = json.loads(capsys.readouterr().out)
    assert actual["epsilon_claimed"] == actual["epsilon_proved"] == 1.0
    assert 0.0 <= actual["epsilon_attacked"] <= 1.0
    assert actual["mu_proved"] is None
    assert actual["mu_attacked"] is None
    assert (actual["delta"], actual["confidence"]) == (0.0, 0.95)
    assert (actual["relation"], actual["replicas"]) == ("replace_one", 60)
    assert actual["witness"]
    assert actual["statistic"]
    assert actual["broken"] is False
    assert actual["epsilon_attacked"] < actual["epsilon_proved"]
    assert actual["epsilon_perfect"] == pytest.approx(0.346, abs=5e-4)  # half of them show more


def test_an_audit_is_a_table(capsys):
    assert main(["audit", "survival", "out_pert", *SMALL, "--replicas", "60"]) == 0
    shown = capsys.readouterr().out
    assert "ε attacked, at least" in shown
    assert "An attack with 120 trainings was right" in shown
    assert "A perfect attack with 120 trainings shows ε = " in shown
    assert "this witness changes what is released by 95.3 % of the sensitivity." in shown


def test_an_attack_by_a_weak_witness_says_so(capsys, monkeypatch):
    """Values of one record change a hundredth of what the sensitivity allows."""
    monkeypatch.setattr(statistics, "apart", lambda one, other: APART(one, other) / 100)
    assert main(["audit", "mean", "laplace", "--replicas", "60"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "by 1 % of the sensitivity: a small bound says little here." in shown


def test_an_attack_above_a_claim_does_not_say_whose_claim_it_is(capsys, monkeypatch):
    """Papers claim some ε only approximately, and others' authors claim that of their rivals."""
    monkeypatch.setattr(Audit, "above_claim", True)
    assert main(["audit", "mean", "laplace", "--replicas", "12"]) == 0
    assert capsys.readouterr().out.endswith("The attack is above what is claimed.\n")


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["survival", "non_private"], "nothing to audit, no finite ε"),
        (["survival", "out_pert", "--replicas", "5"], "expected at least 12"),
        (["survival", "out_pert", "--replicas", "many"], "expected a number from 1 to"),
        (["survival", "out_pert", "--sweep", "epsilon=1,2"], "expected one setting to audit"),
        (["survival", "dp_gd", "--set", "delta=0"], "delta: expected"),
        (["survival", "nothing"], "method: expected one of"),
    ],
)
def test_a_wrong_audit_is_one_sentence(capsys, asked, says):
    assert main(["audit", *asked]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert says in shown.err
    assert len(shown.err.splitlines()) == 1


@pytest.mark.parametrize(
    "asked", [["audit"], ["audit", "--sees", "published"], ["verify"]], ids=" ".join
)
def test_a_method_that_raises_is_one_sentence(asked, outside, monkeypatch, capsys):
    old = planted.MEAN
    fault = [("method", old, f"raise KeyError('lost')\n            {old}")]
    monkeypatch.setitem(planted.FAULTS, "raises", fault)
    slug, (command, *rest) = outside("raises"), asked
    assert main([command, slug, "laplace", *rest]) == 1
    said = capsys.readouterr().err.splitlines()
    assert said == [f"{command} {slug} laplace flchain: KeyError: 'lost'"]
