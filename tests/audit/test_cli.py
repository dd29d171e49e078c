"""`audit`: three numbers on one line, and wrong requests in one sentence."""

import json

import pytest

from engine.cli.main import main

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


def test_an_audit_is_a_table(capsys):
    assert main(["audit", "survival", "out_pert", *SMALL, "--replicas", "60"]) == 0
    shown = capsys.readouterr().out
    assert "ε attacked, at least" in shown
    assert "An attack with 120 trainings was right" in shown


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
