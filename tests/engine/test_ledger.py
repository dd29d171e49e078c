"""The ledger of a table: nothing is drawn that is not entered, and nothing beyond the limit."""

import json
import math
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent, SelfComposedDpEvent
from dp_accounting.rdp import RdpAccountant
from scipy.optimize import brentq
from scipy.stats import norm

from benchmarks.crash import Verb, at_every_point
from datasets import own
from engine.cli.main import main
from engine.core.errors import RequestError, StoreError
from engine.privacy import composing, selection
from engine.privacy.guarantee import Guarantee
from engine.privacy.selection import ORDERED
from engine.runs import ledger, release
from engine.runs.events import Measured, Spent
from engine.runs.job import request
from engine.runs.ledger import LedgerEntry, Limit
from engine.service.claim import take
from engine.service.job_runner import JobRunner, perform
from engine.service.process import here
from engine.service.store import Store
from pages.ui.paper import spent
from pages.ui.words import number

SETTINGS = """
[columns.days]
role = "time"
high = 400
[columns.age]
low = 20
high = 80
"""
TABLE = "days,event,age\n" + "".join(
    f"{1 + 37 * i % 399},{i % 2},{20 + 7 * i % 61}\n" for i in range(200)
)


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    return own.keep("study.csv", TABLE.encode(), SETTINGS)


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """Counts draws, which take no time; nothing is replayed."""
    log = tmp_path / "draws"
    log.touch()

    def draw(*_, **__):
        with log.open("a") as file:
            file.write("x")
        return {"coefficients": np.zeros((1, 3))}

    monkeypatch.setattr("engine.cli.releasing.prove", lambda *_: None)
    monkeypatch.setattr("engine.cli.releasing.written", written)
    monkeypatch.setattr("engine.runs.release.release", draw)
    return lambda: len(log.read_text())


def written(folder, *_):
    (folder / "card.json").write_text("{}")
    return [folder / "card.json"]


def asked(table, to, epsilon=1.0):
    values = [f"epsilon={epsilon}", "intervals=5", "steps=2"]
    sets = [word for value in values for word in ("--set", value)]
    return ["run", "survival", "dp_gd", "--dataset", table, *sets, "--release", "--to", str(to)]


def entry(epsilon, delta, relation):
    return LedgerEntry(epsilon, delta, relation, "paper", "method", "2026-01-01T00:00:00+00:00")


def test_sums_by_hand():
    same = ledger.total([entry(0.5, 1e-6, "replace_one"), entry(0.25, 0.0, "replace_one")])
    assert (same.epsilon, same.delta, same.relation) == (0.75, 1e-6, "replace_one")
    mixed = ledger.total([entry(0.5, 1e-6, "zero_out_one"), entry(0.25, 0.0, "replace_one")])
    assert (mixed.epsilon, mixed.relation) == (1.25, "replace_one")
    assert mixed.delta == pytest.approx(1e-6 * (1 + math.exp(0.5)), rel=1e-12)
    assert ledger.total([]) == ledger.Price(0.0, 0.0, None)
    assert ledger.total([entry(1e4, 0.5, "zero_out_one"), entry(1, 0, "replace_one")]).delta == 1


def normal_curve(precision, delta):
    """ε of Gaussian releases, from their exact curve (Balle and Wang 2018, Theorem 8)."""
    root = math.sqrt(precision)

    def excess(at):
        upper = norm.cdf(root / 2 - at / root)
        return upper - math.exp(at) * norm.cdf(-root / 2 - at / root) - delta

    return brentq(excess, 0.0, 50.0) if excess(0.0) > 0.0 else 0.0


def priced(count, epsilon, delta, *, curve=(), precision=0.0, fixed=True):
    one = entry(epsilon, delta, "replace_one")
    return [replace(one, curve=curve, precision=precision, fixed=fixed)] * count


def gauss(count, multiplier):
    """Releases at δ = 1e-6, each with its exact ε and its Rényi curve λ/2s²."""
    precision = multiplier**-2.0
    curve = tuple(0.5 * at * precision for at in ORDERED)
    own = normal_curve(precision, 1e-6)
    return priced(count, own, 1e-6, curve=curve, precision=precision)


def test_the_three_ways_by_hand():
    made = ledger.composed(gauss(8, 5.0))
    one = normal_curve(0.04, 1e-6)
    assert made.ways["basic"] == pytest.approx(8 * one, rel=1e-9)
    assert made.ways["accountant"] == pytest.approx(normal_curve(0.32, 8e-6), abs=1e-6)
    assert "advanced" not in made.ways  # all of δ is spent: nothing is left for it
    assert (made.epsilon, made.how) == (made.ways["accountant"], "accountant")
    assert made.delta == pytest.approx(8e-6)
    pure = priced(100, 0.1, 0.0)
    assert ledger.composed(pure).how == "basic"  # without a δ there is no other way
    made = ledger.composed(pure, Limit(9.0, 1e-6))
    advanced = 0.5 * 100 * 0.01 + math.sqrt(2 * math.log(1e6) * 100 * 0.01)
    assert made.ways["advanced"] == pytest.approx(advanced, rel=1e-12)
    assert made.ways["basic"] == pytest.approx(10.0)
    assert made.ways["accountant"] == pytest.approx(10.0)  # of no curve nothing more is known
    assert (made.epsilon, made.how, made.delta) == (made.ways["advanced"], "advanced", 1e-6)
    few = ledger.composed(priced(2, 1.0, 0.0), Limit(9.0, 1e-6))
    assert (few.epsilon, few.how, few.delta) == (2.0, "basic", 0.0)


def test_a_renyi_curve_that_is_not_gaussian_adds_up_by_the_best_order():
    event = SelfComposedDpEvent(PoissonSampledDpEvent(0.01, GaussianDpEvent(1.0)), 200)
    curve = tuple(selection.rdp(event, "add_or_remove_one").tolist())
    accountant = RdpAccountant(ORDERED).compose(SelfComposedDpEvent(event, 5))
    own = [replace(one, relation="add_or_remove_one") for one in priced(5, 2.0, 1e-6, curve=curve)]
    found = ledger.composed(own).ways
    assert found["accountant"] == pytest.approx(accountant.get_epsilon(5e-6), rel=1e-6)
    assert found["accountant"] < found["basic"] == 10.0


def test_what_has_no_curve_or_is_priced_ex_post_is_added_as_it_is():
    both = gauss(4, 5.0) + priced(2, 0.3, 1e-6)
    found = ledger.composed(both).ways["accountant"]
    assert found == pytest.approx(0.6 + normal_curve(0.16, 4e-6), abs=1e-6)
    limit = Limit(9.0, 1e-5)
    searched = ledger.composed(priced(1, 1.0, 1e-6, fixed=False) + priced(50, 0.1, 0.0), limit)
    rest = 0.5 * 0.5 + math.sqrt(2 * math.log(1 / 9e-6) * 0.5)
    assert searched.ways["advanced"] == pytest.approx(1.0 + rest, rel=1e-9)
    other = [replace(one, relation="zero_out_one") for one in gauss(1, 5.0)]
    mixed = ledger.composed(gauss(1, 5.0) + other)
    assert mixed.ways["basic"] == pytest.approx(3 * normal_curve(0.04, 1e-6), rel=1e-9)
    assert mixed.how == "basic"  # curves of two relations do not add up


def test_a_limit_counts_by_the_way_that_it_names(table, drawn, tmp_path, capsys):
    words = ["ledger", table, "--limit-epsilon", "1.8", "--limit-delta", "1e-5"]
    assert main([*words, "--limit-by", "accountant"]) == 0
    assert main(asked(table, tmp_path / "a")) == 0
    assert main(asked(table, tmp_path / "b")) == 0  # basic composition has 2.0, and twice the δ
    assert main(asked(table, tmp_path / "c")) == 2
    assert "nothing was drawn" in capsys.readouterr().err
    assert drawn() == 2
    kept = ledger.read(table)
    order = composing.order(1.8, 1e-5)
    at, rho = ORDERED[order], 2 * kept.releases[0].curve[order]
    expected = rho + math.log1p(-1 / at) - math.log(at * 0.5e-5) / (at - 1)  # the other half
    assert ledger._counted(kept, kept.limit).epsilon == pytest.approx(expected, rel=1e-12)
    assert expected >= normal_curve(2 * kept.releases[0].precision, 1e-5)
    assert main([*words[:4], "--limit-by", "advanced"]) == 2
    assert "limit-by: expected --limit-delta above 0 with advanced" in capsys.readouterr().err


@pytest.mark.parametrize("by", ["advanced", "accountant"])
def test_a_limit_s_delta_is_split_before_the_releases(by):
    """What is left for adding up does not follow from what the releases so far showed."""
    limit, some = Limit(9.0, 2e-6, by), priced(2, 0.5, 4e-7)
    found = ledger.TableLedger("t", tuple(some), limit).counted
    alone = replace(some[0], delta=0.0)
    assert found == ledger.TableLedger("t", (alone, alone), limit).counted
    assert found.epsilon == pytest.approx(
        1.0 if by == "accountant" else 0.25 + math.sqrt(2 * math.log(1e6) * 0.5)
    )
    over = ledger.TableLedger("t", tuple(priced(3, 0.5, 4e-7)), limit)
    assert over.counted.delta == pytest.approx(2.4e-6)  # their own, and as much for adding up
    assert over.counted.epsilon < limit.epsilon
    assert over.reached
    with pytest.raises(
        RequestError, match=r"and δ 2e-06, got ε [\d.]+ and δ 2.4e-06 with this one"
    ):
        ledger._check(over)


def test_ex_post_prices_are_added_at_the_order_at_which_fixed_ones_reach_the_limit():
    """What they leave for the others is known only as they come; the best order would follow it."""
    limit, log = Limit(3.0, 2e-6, "advanced"), math.log(1e6)
    most = (math.sqrt(2 * log + 2 * 3.0) - math.sqrt(2 * log)) ** 2  # the sum of ε² that reaches it

    def counted(squares, searched):
        fixed, found = priced(4, math.sqrt(squares / 4), 0.0), priced(1, searched, 0.0, fixed=False)
        return ledger.TableLedger("t", (*fixed, *found * bool(searched)), limit).counted.epsilon

    assert counted(most, 0.0) == pytest.approx(3.0)
    assert counted(most, 0.1) == pytest.approx(3.1)
    at = 1.0 + math.sqrt(2 * log / most)
    expected = 0.1 + at * most / 16 + log / (at - 1)
    assert counted(most / 8, 0.1) == pytest.approx(expected)
    assert expected > 0.1 + counted(most / 8, 0.0) + 0.5
    assert counted(0.0, 0.1) == pytest.approx(0.1)


@pytest.mark.parametrize("by", ["basic", "advanced", "accountant"])
def test_a_limit_is_reached_where_the_least_release_would_pass_it(by):
    limit, some = Limit(1.0, 1e-5, by), list[LedgerEntry]()
    for epsilon in (0.05, 0.005, 0.001):
        least = entry(epsilon, 0.0, "replace_one")
        while ledger.TableLedger("t", (*some, least), limit).counted.epsilon <= 1.0:
            assert not ledger.TableLedger("t", tuple(some), limit).reached
            some.append(least)
    assert ledger.TableLedger("t", tuple(some), limit).reached


def test_a_limit_is_not_reached_where_a_release_with_a_curve_has_room():
    """By its curve the least release costs next to nothing beside others with curves."""
    limit = Limit(1.8, 1e-5, "accountant")
    at = ORDERED[composing.order(1.8, 1e-5)]
    more = math.log1p(-1 / at) - math.log(at * 0.5e-5) / (at - 1)

    def reached(left):
        some = priced(1, 1.0, 0.0, curve=(1.8 - left - more,) * len(ORDERED))
        return ledger.TableLedger("t", tuple(some), limit).reached

    assert not reached(5e-4)
    assert reached(1e-9)


def test_a_release_is_entered_and_a_limit_stops_the_one_that_would_pass_it(
    table, drawn, tmp_path, capsys
):
    assert main(["ledger", table, "--limit-epsilon", "2.5", "--limit-delta", "0.1"]) == 0
    assert main(asked(table, tmp_path / "a")) == main(asked(table, tmp_path / "b")) == 0
    capsys.readouterr()
    assert main(asked(table, tmp_path / "c")) == 2
    said = capsys.readouterr().err
    assert "cost at most ε 2.5 and δ 0.1, got ε" in said
    counted = math.fsum(one.epsilon for one in ledger.read(table).releases)
    more = counted + ledger.read(table).releases[0].epsilon
    assert f"got ε {more:.6g} and" in said
    assert (
        "with this one, counted by basic composition as the limit says: nothing was drawn" in said
    )
    assert main(["ledger", table]) == 0
    told = capsys.readouterr().out
    assert "by composition of Rényi curves" in told  # the smallest sum is not the one that counts
    assert f"0.1, by basic composition, by which ε = {counted:.6g} is spent." in told
    page = spent.said(ledger.read(table))
    assert page == f"2 releases: ε = {number(counted)} of 2.5 spent."
    assert said.count("\n") == 1
    assert drawn() == 2
    assert not (tmp_path / "c").exists()
    assert not (tmp_path / ".c.release").exists()
    assert main(["ledger", table, "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert set(body) == {"table", "entries", "sum", "limit"}
    assert body["limit"] == {"epsilon": 2.5, "delta": 0.1, "by": "basic"}
    assert [one["method"] for one in body["entries"]] == ["dp_gd", "dp_gd"]
    ways = body["sum"]["ways"]
    assert 1.9 < ways["basic"] <= 2.0
    assert ways["basic"] == math.fsum(one["epsilon"] for one in body["entries"])
    at = normal_curve(2 * body["entries"][0]["precision"], 0.1)  # both are Gaussian
    assert ways["accountant"] == pytest.approx(at, abs=1e-6)
    assert (body["sum"]["epsilon"], body["sum"]["how"]) == (min(ways.values()), "accountant")
    assert body["sum"]["delta"] == 0.1  # which the owner has accepted
    basic = ledger.total(ledger.read(table).releases)
    assert basic.delta == pytest.approx(2 * body["entries"][0]["delta"])
    assert main(asked(table, tmp_path / "c", epsilon=0.4)) == 0  # there is room for a smaller one


def test_a_search_lowers_its_own_entry_once_and_no_other_of_the_same_second(table, monkeypatch):
    once = datetime(2026, 1, 1, tzinfo=UTC)
    monkeypatch.setattr(ledger, "datetime", SimpleNamespace(now=lambda zone: once))
    card = Guarantee(
        mechanism="", status="proved", epsilon_claimed=None, epsilon_proved=2.0, delta=0.0,
        relation="replace_one", unit="",
    )  # fmt: skip
    one, other = (ledger.enter(table, "survival", "km_dp", card, fixed=False) for _ in range(2))
    for _ in range(2):  # killed before it has published, and settled again by who goes on
        ledger.settle(table, one, 0.25, "enough")
    assert [entry.epsilon for entry in ledger.read(table).releases] == [0.25, 2.0]
    ledger.settle(table, other, 1.0, "enough")
    assert [entry.epsilon for entry in ledger.read(table).releases] == [0.25, 1.0]


def test_a_look_is_entered_once_and_stops_no_release(table, drawn, tmp_path, capsys):
    assert main(["ledger", table, "--limit-epsilon", "1.5"]) == 0
    look = ["run", "survival", "dp_gd", "--dataset", table, "--set", "intervals=5", "--set"]
    look += ["steps=2", "--sweep", "epsilon=1,3", "--seeds", "2"]
    for _ in range(2):  # the second is answered from the store
        assert main(look) == 0
    assert main(["run", "survival", "non_private", "--dataset", table, "--set", "intervals=5"]) == 0
    capsys.readouterr()
    assert main(["ledger", table, "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["sum"]["epsilon"] == 0.0
    assert body["sum"]["looks"]["epsilon"] == pytest.approx(2 * (1 + 3), rel=1e-3)
    assert [one["method"] for one in body["entries"]] == ["dp_gd"]
    assert not body["sum"]["reached"]
    assert main(asked(table, tmp_path / "a")) == 0
    assert main(asked(table, tmp_path / "b")) == 2
    assert drawn() == 1
    capsys.readouterr()
    assert main(["ledger", table]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Runs that were looked at would cost ε = 7.99982 more." in said
    assert main(["ledger", table, "--limit-epsilon", "1"]) == 0
    assert "It is reached: nothing more can be released." in " ".join(
        capsys.readouterr().out.split()
    )


def test_what_a_stopped_run_has_shown_is_a_look(table, tmp_path):
    """It is stopped at its first measure, and costs what the whole run would have."""
    job = request(
        "survival", "dp_gd", table, {"intervals": 5, "steps": 200}, {"epsilon": (1.0, 3.0)}
    )
    store = Store(tmp_path / "home")
    store.submit(job, {})
    claim = take(store, here(), job.id)
    assert claim is not None
    seen = []
    runner = JobRunner(claim, watch=seen.append)
    runner.turn(lambda: any(isinstance(one, Measured) for one in seen))
    first = next(one for one in seen if isinstance(one, Measured))
    assert first.step < 200
    assert not any(isinstance(one, Spent) for one in seen)
    runner.leave()
    assert math.fsum(e.epsilon for e in ledger.read(table).looks) == pytest.approx(1 + 3, rel=1e-3)
    assert main(["run", "survival", "dp_gd", "--dataset", table, "--set", "intervals=5", "--set",
                 "steps=200", "--sweep", "epsilon=1,3"]) == 0  # fmt: skip
    assert math.fsum(e.epsilon for e in ledger.read(table).looks) == pytest.approx(1 + 3, rel=1e-3)


def test_a_stop_while_a_look_is_priced_loses_no_measure(table, tmp_path, monkeypatch):
    job = request("survival", "exact", table, {"samples": 40, "intervals": 5}, {}, (0,))
    store, real, stops = Store(tmp_path / "home"), ledger.look, [KeyboardInterrupt]

    def look(*about):
        if stops:
            raise stops.pop()
        real(*about)

    monkeypatch.setattr(ledger, "look", look)
    seen = []
    for _ in range(2):
        store.submit(job, {})
        claim = take(store, here(), job.id)
        perform(claim, watch=seen.append)
        assert len(ledger.read(table).looks) == 1
    assert [one.step for one in seen if isinstance(one, Measured)] == [1, 2, 3, 4, 5]


def test_a_ledger_without_looks_is_read(table, tmp_path):
    old = {"epsilon": 1.0, "delta": 0.0, "relation": "replace_one", "paper": "survival",
           "method": "dp_gd", "time": "2026-01-01T00:00:00+00:00"}  # fmt: skip
    place = tmp_path / "home" / "tables" / f"{table}.ledger"
    place.write_text(json.dumps({"table": table, "entries": [old], "limit": None}))
    assert len(ledger.read(table).releases) == 1


def test_a_limit_of_delta_alone_stops_too(table, drawn, tmp_path, capsys):
    assert main(["ledger", table, "--limit-epsilon", "100", "--limit-delta", "0"]) == 0
    assert main(asked(table, tmp_path / "a")) == 2
    assert "nothing was drawn" in capsys.readouterr().err
    assert (drawn(), ledger.read(table).entries) == (0, ())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--limit-epsilon", "0"], "limit-epsilon: expected a positive number, got 0"),
        (["--limit-epsilon", "nan"], "limit-epsilon: expected a positive number, got nan"),
        (["--limit-epsilon", "1", "--limit-delta", "1"], "limit-delta: expected a number from 0"),
        (["--limit-delta", "0.1"], "limit-delta: expected --limit-epsilon with it"),
    ],
)
def test_a_wrong_limit_is_refused(table, words, says, capsys):
    assert main(["ledger", table, *words]) == 2
    assert says in capsys.readouterr().err
    assert ledger.read(table).limit is None


def test_only_a_table_of_one_s_own_has_a_ledger_which_outlives_it(table, drawn, tmp_path, capsys):
    assert main(["ledger", "heart"]) == 2
    assert "expected a table of your own, got 'heart'" in capsys.readouterr().err
    assert main(["ledger", f"{table[:-1]}{'0' if table[-1] != '0' else '1'}"]) == 2
    assert main(asked(table, tmp_path / "a")) == 0
    own.remove(table)
    assert table not in own.names()
    assert len(ledger.read(table).entries) == 1
    place = tmp_path / "home" / "tables" / f"{table}.ledger"
    assert place.stat().st_mode & 0o077 == 0


def test_a_damaged_ledger_stops_releases(table, drawn, tmp_path, capsys):
    for content in ("", "{}", '{"table": "x", "entries": [], "limit": null}', '{"entries": 3}'):
        (tmp_path / "home" / "tables" / f"{table}.ledger").write_text(content)
        assert main(asked(table, tmp_path / "a")) == 1
        assert "what was spent is not known" in capsys.readouterr().err
    assert drawn() == 0


def test_no_flipped_bit_changes_what_was_spent(table, drawn, tmp_path):
    assert main(asked(table, tmp_path / "a")) == 0
    ledger.set_limit(table, ledger.Limit(2.5, 1e-6))
    place, held = tmp_path / "home" / "tables" / f"{table}.ledger", ledger.read(table)
    whole, refused = place.read_bytes(), 0
    for at in range(len(whole)):
        content = bytearray(whole)
        content[at] ^= 1 << at % 8
        place.write_bytes(content)
        try:
            assert ledger.read(table) == held, at
        except StoreError:
            refused += 1
    assert refused > 0.9 * len(whole)


@pytest.mark.thorough
def test_wherever_it_is_killed_only_a_kill_between_both_leaves_an_entry_without_a_draw(
    table, drawn, tmp_path, monkeypatch
):
    """What is noted needs no file operation of its own, so that it adds no point to kill at.

    An entry gets its place by a rename. The points between it and the draw are two: where the
    name is made to last, and where the draw begins.
    """
    place = tmp_path / "home" / "tables" / f"{table}.ledger"
    notes = os.open(tmp_path / "notes", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    rename, draw = os.replace, release.release

    def replace(one, other):
        rename(one, other)
        os.write(notes, b"e" * (Path(other) == place))

    def noted(*words, **more):
        made = draw(*words, **more)
        os.write(notes, b"d")
        return made

    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(release, "release", noted)
    between, seen = [], [0]

    def before(_):
        place.unlink(missing_ok=True)
        os.ftruncate(notes, 0)
        seen[0] = drawn()

    def wrong(folder):
        story, entries = os.pread(notes, 9, 0), len(ledger.read(table).entries)
        assert story in (b"", b"e", b"ed")
        between.extend([story] * (story == b"e"))
        faults = ["entered and not drawn, or the reverse"] * (entries != story.count(b"e"))
        there = (folder / "out").exists()
        if main(asked(table, folder / "out")) != (2 if there else 0):
            faults.append("the next one is refused, or not")
        draws, after = drawn() - seen[0], len(ledger.read(table).entries)
        if after - draws != (story == b"e"):
            faults.append(f"after {story!r} {after} entries and {draws} draws")
        return faults

    verb = Verb(lambda folder: main(asked(table, folder / "out")), wrong, before)
    kills, faults = at_every_point("ledger", verb)
    os.close(notes)
    assert kills > 20
    assert faults == []
    assert len(between) == 2
