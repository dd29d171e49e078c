"""The attacker whom one can meet: on real records, by what is published alone."""

import json
from dataclasses import replace

import numpy as np
import pytest

from engine.audit.bounds import epsilon_of_errors, mean_bound
from engine.audit.met import drawn, exposed, half, meet
from engine.audit.training import Setting
from engine.catalog import paper
from engine.cli.main import main
from engine.core.errors import RequestError
from engine.core.gauges import gauges
from engine.privacy.mechanisms import Laplace
from engine.privacy.releases import Release
from engine.runs import met, naming
from engine.runs.job import request
from tests.audit import small


def trainings(strength, count=240, people=60, wide=80):
    """Halves of people of whom the first ten move what is published, each along a line."""
    rng = np.random.default_rng(0)
    members = rng.random((count, people)) < 0.5
    lines = np.zeros((people, wide))
    lines[:10] = strength * rng.normal(size=(10, wide)) / np.sqrt(wide)
    return members, members @ lines + rng.normal(size=(count, wide)) + 3.0


def test_the_records_that_move_what_is_published_are_found_and_guessed():
    members, numbers = trainings(6.0)
    right = exposed(members, numbers, most=10)
    assert right.shape == (120, 10)
    assert right.mean() > 0.9
    assert exposed(members, numbers, most=60).mean() < 0.7  # the other fifty are a coin's
    assert mean_bound(right.mean(1), 0.025) > 0.85
    assert abs(exposed(*trainings(0.0), most=10).mean() - 0.5) < 0.1


def test_numbers_that_never_change_and_records_that_are_always_there_tell_nothing():
    members, numbers = trainings(6.0)
    members[:, 3] = True
    still = np.concatenate([numbers, np.full((240, 4), 7.0)], 1)
    with np.errstate(all="raise"):
        right = exposed(members, still, most=59)
    np.testing.assert_array_equal(right, exposed(members, numbers, most=59))


def test_a_private_answer_is_seldom_guessed_beyond_its_proof():
    """Ideal noise at ε = 1 on the count of each of ten people alone: 40 attacks, 97.5 % each."""
    rng, wrong = np.random.default_rng(1), 0
    for _ in range(40):
        members = rng.random((200, 10)) < 0.5
        numbers = members + rng.laplace(0.0, 1.0, (200, 10))
        least = mean_bound(exposed(members, numbers).mean(1), 0.025)
        wrong += epsilon_of_errors(1.0 - least, 0.0) > 1.0
    assert wrong <= 4
    members = rng.random((2000, 10)) < 0.5
    loud = exposed(members, members + rng.laplace(0.0, 0.2, (2000, 10)))
    assert epsilon_of_errors(1.0 - mean_bound(loud.mean(1), 0.025), 0.0) > 1.0


@pytest.mark.parametrize("slug", ["mean", "lvq", "yesiwell"])
def test_a_half_has_the_records_of_that_half_alone(slug):
    table = small.table(paper(slug))
    inside = np.arange(len(table)) % 3 == 0
    some = half(table, inside)
    if slug == "mean":
        assert len(some) == some.card.records == inside.sum()
        np.testing.assert_array_equal(some.x, table.x[inside])
        assert some.card.events == some.event.sum()
    else:
        assert len(some) == len(table)
        assert set(some.left_out) == set(np.flatnonzero(~inside))


@pytest.mark.parametrize("relation", ["replace_one", "add_or_remove_one"])
def test_halves_that_differ_by_one_person_are_neighbours(relation):
    """Of one size where a person is replaced, each in as often as out; by coins where not."""
    one, data = paper("mean"), small.people()
    table = half(data, np.arange(len(data)) < 59)
    entry = one.entry("laplace")
    own = replace(entry, guarantee=lambda *own: replace(entry.guarantee(*own), relation=relation))
    setting = Setting.of(own, one.spec(records=30), data)
    members = np.array([drawn(setting, table, number) for number in range(100)])
    one_size, places = len(set(members.sum(1))) == 1, members.any(0).sum()
    assert (one_size, places) == ((True, 58) if relation == "replace_one" else (False, 59))


def loud(epsilon):
    """The mean, priced at ε = 1, with the noise of another ε."""
    one = paper("mean")
    entry, spec = one.entry("laplace"), one.spec(records=8)

    def releases(spec, n):
        both = entry.releases(spec, n)
        return tuple(Release(Laplace(r.mechanism.sensitivity, epsilon), what=r.what) for r in both)

    from engine.papers.mean.method import Mean

    own = replace(entry, releases=releases)
    object.__setattr__(own, "load", lambda: Mean(releases))
    return Setting.of(own, spec, small.people()), one


@pytest.mark.parametrize(("epsilon", "found"), [(1.0, False), (200.0, True)])
@pytest.mark.thorough
def test_too_little_noise_is_found_by_what_is_published(epsilon, found):
    setting, one = loud(epsilon)
    shown = meet(setting, small.people(), one.arrays, worst=80, delta=0.0, seconds=600.0)
    assert (shown.epsilon_worst > 1.0) is found
    assert shown.epsilon == max(shown.epsilon_worst, shown.epsilon_real)
    assert (shown.right > 0.75) is found
    assert shown.least <= shown.right
    assert shown.records == 16  # of twice the records that are used
    assert gauges(setting.entry.info)["mean"].released


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(naming, "FOLDER", tmp_path)
    return tmp_path


def test_the_command_attacks_and_keeps_what_it_found(folder, capsys, monkeypatch):
    monkeypatch.setattr("engine.audit.met.LEAST", 12)
    monkeypatch.setattr("engine.audit.met.MOST", 12)
    asked = ["audits", "mean", "laplace", "--sees", "published", "--replicas", "40", "--seconds"]
    assert main([*asked, "1", "--write", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["audits"]
    (row,) = met.rows()
    assert (row.paper, row.trainings, row.trainings_worst) == ("mean", 6, 40)
    assert told["right"] == pytest.approx(row.right)
    job = request("mean", "laplace", "flchain", {}, seeds=range(1000), audit=True)
    assert met.fitting(job) == row
    assert not row.outdated
    assert main([*asked, "1", "--write"]) == 0
    assert met.rows() == (replace(row, seconds=met.rows()[0].seconds),)  # the same numbers again
    assert "real records" in capsys.readouterr().out


def test_a_damaged_file_is_one_sentence(folder):
    (folder / met.FILE).write_text("[{]")
    with pytest.raises(Exception, match="expected the shipped attacks"):
        met.rows()


def test_a_method_that_publishes_nothing_is_refused():
    one = paper("survival")
    setting = Setting.of(one.entry("km_dp"), small.spec(one), small.people())
    with pytest.raises(RequestError, match="publishes numbers"):
        meet(setting, small.people(), {}, worst=12, delta=0.0, seconds=0.1)
