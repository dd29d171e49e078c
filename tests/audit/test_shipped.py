"""The attacks that ship: read as rows, asked for every private method, written by one command."""

import json
from dataclasses import replace

import pytest

from engine.audit import report
from engine.audit.runner import Collected, attack
from engine.catalog import catalog
from engine.cli.main import main
from engine.core.errors import StoreError
from engine.runs import attacks, audits, naming
from engine.runs.job import request


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(naming, "FOLDER", tmp_path)
    return tmp_path


def test_one_command_attacks_every_method_of_a_paper_and_keeps_the_rows(folder, capsys):
    asked = ["mean", "--epsilon", "4", "--replicas", "200"]
    assert main(["audits", *asked, "--write", "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)["audits"]
    kept = audits.rows()
    assert [(row.method, row.calibration) for row in kept] == [
        ("laplace", ""),
        ("gaussian", "paper"),
        ("gaussian", "rigorous"),
    ]
    assert [row["replicas"] for row in reported] == [200] * 3
    assert all(row.epsilon_attacked <= row.epsilon_proved for row in kept)
    assert not any(row.broken for row in kept)


def test_a_setting_that_is_attacked_again_replaces_its_own_row_only(folder, capsys):
    main(["audits", "mean", "laplace", "--replicas", "40", "--write"])
    [first] = audits.rows()
    audits.write([first, audits.Row(**{**vars(first), "run": "another"})])
    main(["audits", "mean", "laplace", "--replicas", "60", "--write"])
    assert [(row.run, row.replicas) for row in audits.rows()] == [("another", 40), (first.run, 60)]
    main(["audits", "mean", "laplace", "--replicas", "60", "--epsilon", "2", "--write"])
    assert [row.budget for row in audits.rows()] == [1.0, 1.0, 2.0]


@pytest.mark.parametrize("text", ["no", "-1", "0", "inf"])
def test_a_budget_that_is_none_is_one_sentence(folder, capsys, text):
    assert main(["audits", "mean", "--epsilon", text]) != 0
    assert "epsilon: expected a number above 0" in capsys.readouterr().err


def asked(**values):
    """The attack on the mean that a page asks for."""
    values = {"epsilon": 1.0, **values}
    return request("mean", "laplace", "flchain", values, seeds=range(1000), audit=True)


def test_a_row_fits_its_own_setting_alone_however_many_trainings(folder, capsys):
    main(["audits", "mean", "laplace", "--replicas", "40", "--write"])
    row = audits.fitting(asked())
    assert row is not None
    assert row.replicas == 40
    assert not row.outdated
    assert replace(row, sources="another").outdated
    assert audits.fitting(asked(epsilon=2.0)) is None
    assert audits.fitting(asked(bound=3.0)) is None


def test_a_method_too_slow_to_attack_has_a_reason_in_place_of_a_number(folder, monkeypatch):
    monkeypatch.setattr("engine.cli.audit._together", lambda setting, limit: (1, 9.0))
    main(["audits", "mean", "laplace", "--replicas", "1000", "--seconds", "1", "--write"])
    monkeypatch.setattr(
        "engine.audit.runner.attack",
        lambda setting, count, size, first: iter([Collected({}, float("nan"))]),
    )
    main(["audits", "mean", "laplace", "--replicas", "1000", "--seconds", "1", "--write"])
    [row] = audits.rows()
    assert row.epsilon_attacked is None
    assert "A training takes 9.0 s on this machine" in row.reason
    assert row.epsilon_proved == pytest.approx(1.0)


def test_a_bound_above_a_proof_is_judged_again_on_new_noise(folder, monkeypatch):
    """One attack in twenty is above the truth by chance, and a table has fifty."""
    firsts, whole = [], report.summary

    def lucky(card, setting, collected):
        found = whole(card, setting, collected)
        return replace(found, epsilon_attacked=9.0) if len(firsts) == 1 else found

    def noted(setting, count, size, first):
        firsts.append(first)
        return attack(setting, count, size, first)

    monkeypatch.setattr(report, "summary", lucky)
    monkeypatch.setattr("engine.audit.runner.attack", noted)
    main(["audits", "mean", "laplace", "--replicas", "200", "--write"])
    [row] = audits.rows()
    assert len(set(firsts)) == 2
    assert not row.broken
    assert (row.attacks, row.epsilon_first) == (2, 9.0)


def test_a_row_says_what_its_bound_rests_on_and_how_many_were_judged(folder):
    main(["audits", "mean", "laplace", "--replicas", "200", "--write"])
    [row] = audits.rows()
    assert row.by_curve
    assert (row.attacks, row.epsilon_first) == (1, None)
    assert row.judged == 400


def test_rows_of_an_earlier_version_still_load(folder):
    main(["audits", "mean", "laplace", "--replicas", "40", "--write"])
    path = folder / audits.FILE
    [kept] = json.loads(path.read_text())
    for name in ("by_curve", "judged", "attacks", "epsilon_first"):
        del kept[name]
    path.write_text(json.dumps([kept]))
    attacks._read.cache_clear()
    [row] = audits.rows()
    assert (row.by_curve, row.judged, row.attacks) == (True, 0, 0)


def test_no_file_means_no_rows_and_a_damaged_one_is_a_sentence(folder):
    assert audits.rows() == ()
    (folder / audits.FILE).write_text("[{}]")
    with pytest.raises(StoreError, match="expected the shipped attacks"):
        audits.rows()


def test_every_private_method_ships_with_a_number_or_a_reason():
    """In each calibration; `engine audits` computes a row, or says why it cannot."""
    shipped = {(row.paper, row.method, row.calibration): row for row in audits.rows()}
    for job, calibration in audits.asked():
        row = shipped.get((job.paper, job.method, calibration))
        assert row is not None, f"{job.paper} {job.method} {calibration}: expected an attack"
        assert (row.epsilon_attacked is None) == bool(row.reason)


def test_what_ships_is_about_methods_that_exist():
    known = {(paper.slug, entry.name) for paper in catalog().values() for entry in paper.methods}
    for row in audits.rows():
        assert (row.paper, row.method) in known
        assert row.broken == (
            (row.epsilon_attacked or 0.0)
            > min(row.epsilon_claimed or 1e9, row.epsilon_proved or 1e9)
        )


def test_writing_a_paper_drops_its_rows_of_settings_that_no_page_has_any_more(folder):
    main(["audits", "mean", "laplace", "--replicas", "40", "--write"])
    [first] = audits.rows()
    other = {**vars(first), "run": "another"}
    audits.write([first, audits.Row(**other), audits.Row(**{**other, "paper": "lvq"})])
    main(["audits", "mean", "--replicas", "40", "--write"])
    kept = audits.rows()
    assert [row.method for row in kept if row.paper == "mean"] == ["laplace", *["gaussian"] * 2]
    assert [row.run for row in kept if row.paper == "lvq"] == ["another"]
    assert all(row.epsilon_perfect is not None for row in kept if row.paper == "mean")
