"""The attacks that ship: read as rows, asked for every private method, written by one command."""

import json

import pytest

from engine.catalog import catalog
from engine.cli.main import main
from engine.core.errors import StoreError
from engine.runs import audits, naming


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(naming, "FOLDER", tmp_path)
    return tmp_path


def test_one_command_attacks_every_method_of_a_paper_and_keeps_the_rows(folder, capsys):
    assert main(["audits", "mean", "--replicas", "200", "--write", "--json"]) == 0
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


def test_a_paper_that_is_attacked_again_replaces_its_own_rows_only(folder, capsys):
    main(["audits", "mean", "--replicas", "40", "--write"])
    first = audits.rows()
    audits.write([*first, audits.Row(**{**vars(first[0]), "paper": "another"})])
    main(["audits", "mean", "--replicas", "40", "--write"])
    assert [row.paper for row in audits.rows()] == ["another", "mean", "mean", "mean"]


def test_no_file_means_no_rows_and_a_damaged_one_is_a_sentence(folder):
    assert audits.rows() == ()
    (folder / audits.FILE).write_text("[{}]")
    with pytest.raises(StoreError, match="expected the shipped attacks"):
        audits.rows()


def test_what_ships_is_about_methods_that_exist():
    known = {(paper.slug, entry.name) for paper in catalog().values() for entry in paper.methods}
    for row in audits.rows():
        assert (row.paper, row.method) in known
        assert row.broken == (
            row.epsilon_attacked > min(row.epsilon_claimed or 1e9, row.epsilon_proved or 1e9)
        )
