"""A private synthetic table: its noise, its price, what it keeps, and the command that makes it."""

import csv
import json
import math
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from benchmarks.synthetic import largest_error
from datasets import catalog as data_catalog
from datasets import own
from datasets.base import Bounds, Card, LabelledTable, SurvivalTable
from engine.audit.bounds import Scores, epsilon_bound
from engine.cli import shared
from engine.cli.main import main
from engine.core.errors import RequestError
from engine.privacy import exact
from engine.runs import ledger
from engine.synthetic import price, release, shaped
from engine.synthetic.columns import BINS, read
from tests.engine.test_exact import masses, unlikely
from tests.engine.test_ledger import SETTINGS, TABLE

CARD = Card(
    name="small", title="Small", summary="", records=300, record="a person", source="", licence="",
    public="", classes=2, features=("a", "b", "c"),
)  # fmt: skip
DRAW = release._noisy


def small(n=300, columns=3, seed=0):
    """A table of two classes and columns of 0 and 1; all columns agree with the class in 4 of 5."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    x = np.where(rng.random((n, columns)) < 0.8, y[:, None], 1 - y[:, None]).astype(float)
    names = tuple(f"c{i}" for i in range(columns))
    card = replace(CARD, records=n, features=names)
    return LabelledTable(card, x, y, (np.zeros(columns), np.ones(columns)))


def moved(table, row, x, y):
    """The neighbour in which one record is another."""
    other, classes = table.x.copy(), table.y.copy()
    other[row], classes[row] = x, y
    return replace(table, x=other, y=classes)


def watched(monkeypatch, made, table, seed=0, script=None):
    """Every release of a run, before and after its noise; outputs of a script stand for noise."""
    seen = []

    def noisy(counts, law, bits):
        after = script[len(seen)][1] if script else DRAW(counts, law, bits)
        seen.append((counts.copy(), after))
        return after

    monkeypatch.setattr(release, "_noisy", noisy)
    monkeypatch.setattr(shaped.KnownCounts, "drawn", lambda *_: {})
    release.make(made, table, random.Random(seed).getrandbits)
    return seen


def stages(seen, made, columns):
    """Of each kind of release, its values as one vector: columns, scores, pairs."""
    parts = seen[:columns], seen[columns : columns + 1], seen[columns + 1 :]
    return [[np.concatenate([one[i].ravel() for one in part]) for i in (0, 1)] for part in parts]


def test_noise_is_of_whole_numbers_and_has_the_law_that_is_priced(monkeypatch):
    table = small(40, 2)
    made = price.plan(table.card, 8.0, 1e-5)
    noise = [[], [], []]
    for seed in range(100):
        seen = watched(monkeypatch, made, table, seed)
        for own_noise, (before, after) in zip(noise, stages(seen, made, 3), strict=True):
            assert after.dtype == np.int64
            own_noise += (after - before).tolist()
    for some, deviation in zip(noise, made.deviations, strict=True):
        law = masses(lambda x, deviation=deviation: np.exp(-(x**2) / (2 * deviation**2)))
        assert unlikely(some, law) > 1e-3
        less = masses(lambda x, deviation=deviation: np.exp(-(x**2) / (1.3 * deviation**2)))
        assert len(some) < 500 or unlikely(some, less) < 1e-3


def test_one_record_moves_releases_by_what_is_priced_and_no_more(monkeypatch):
    rng, table, largest = np.random.default_rng(1), small(60, 4), np.zeros(3)
    made = price.plan(table.card, 3.0, 1e-5)
    for seed in range(60):
        first = watched(monkeypatch, made, table, seed)
        other = moved(table, int(rng.integers(60)), rng.choice([0.0, 0.37, 1.0], 4), seed % 2)
        second = watched(monkeypatch, made, other, script=first)
        pairs = zip(stages(first, made, 5), stages(second, made, 5), strict=True)
        apart = [float(((one[0] - two[0]) ** 2).sum()) for one, two in pairs]
        largest = np.maximum(largest, apart)
    assert (largest <= made.moves).all()
    assert made.moves == (10, 40, 8)
    assert (largest[[0, 2]] == [10, 8]).all()  # reached by records that differ everywhere
    assert largest[1] >= 10


def test_a_price_by_hand():
    """Five columns: sensitivities √10, 2√10 and √8; ε by Proposition 12 of Canonne et al."""
    table = small(60, 4)
    made = price.plan(table.card, 1.0, 1e-5)
    squares = [10 / made.deviations[0] ** 2, 40 / made.deviations[1] ** 2,
               8 / made.deviations[2] ** 2]  # fmt: skip
    rho, delta = sum(squares) / 2, 1e-5
    bounds = [
        a * rho + (math.log(1 / delta) + (a - 1) * math.log(1 - 1 / a) - math.log(a)) / (a - 1)
        for a in np.linspace(1.01, 80.0, 200_000)
    ]
    assert 0.9999 < min(bounds) <= 1.0
    assert made.guarantee.epsilon_proved == pytest.approx(1.0, rel=1e-6)
    assert np.array(squares) / sum(squares) == pytest.approx(price.SHARES, rel=1e-6)
    assert made.guarantee.status == "proved"
    assert made.guarantee.relation == "replace_one"
    rows = price.plan(replace(table.card, rows=2), 1.0, 1e-6).guarantee
    assert rows.epsilon_proved == pytest.approx(2.0, rel=1e-6)
    assert rows.delta == pytest.approx(1e-6 * (1 + math.e), rel=1e-5)


def attacked(monkeypatch, made, table, other, runs=250):
    """A lower bound on ε: the likelihood ratio of everything that is released."""
    columns = 1 + table.x.shape[1]
    scores = {True: [], False: []}
    for run in range(2 * runs):
        mine, theirs = (table, other) if run % 2 else (other, table)
        own_run = watched(monkeypatch, made, mine, run)
        replay = watched(monkeypatch, made, theirs, script=own_run)
        ratio = 0.0
        pairs = zip(stages(own_run, made, columns), stages(replay, made, columns), strict=True)
        for (one, two), deviation in zip(pairs, made.deviations, strict=True):
            far = ((one[1] - two[0]) ** 2).sum() - ((one[1] - one[0]) ** 2).sum()
            ratio += far / (2 * deviation**2)
        scores[bool(run % 2)].append(ratio if run % 2 else -ratio)
    both = Scores(np.array(scores[True]), np.array(scores[False]))
    return epsilon_bound({"ratio": both.flipped()}, made.guarantee.delta, 0.999).epsilon


@pytest.mark.thorough
@pytest.mark.parametrize("broken", [False, True])
def test_an_attack_stays_below_the_price_and_catches_too_little_noise(monkeypatch, broken):
    table = small(400, 8)
    other = moved(table, 0, 1.0 - table.x[0], 1 - table.y[0])
    made = price.plan(table.card, 0.5, 0.05)  # a large δ, at which few runs say much
    if broken:  # each release spends all, as if a record were in one table of counts alone
        law, part = exact.law, iter(price.SHARES * 10_000)
        monkeypatch.setattr(
            exact, "law", lambda one, _, factor: law(one, Fraction(2 * next(part)), factor)
        )
        ways = zip(made.deviations, price.SHARES, made.moves, strict=True)
        wrong = tuple(d * math.sqrt(2 * share / move) for d, share, move in ways)
        monkeypatch.setattr(price.SyntheticPlan, "deviations", wrong)
    found = attacked(monkeypatch, made, table, other)
    assert (found > 0.5) == broken


def phi(values, first, second):
    return float(np.corrcoef(values[first], values[second])[0, 1])


@pytest.mark.parametrize("broken", [False, True])
def test_a_correlation_survives(monkeypatch, broken):
    """Of two columns of 0 and 1, the count of (1, 1) is known up to the noise of four cells."""
    table = small(20_000, 3, seed=5)
    made = price.plan(table.card, 8.0, 1e-5)
    if broken:
        monkeypatch.setattr(shaped, "raked", lambda _, rows, columns: np.outer(rows, columns))
    drawn = release.make(made, table, random.Random(3).getrandbits)
    _, values = read(table)
    one, _, two = made.deviations
    # 5 deviations: margins of two columns, four cells of the pair; n p q = n / 4 in each column
    most = 5.0 * math.sqrt(2 * BINS * one**2 + 4 * two**2) / (20_000 / 4)
    apart = [abs(phi(values, "label", f"c{i}") - phi(drawn.values, "label", f"c{i}"))
             for i in range(3)]  # fmt: skip
    assert most < 0.1
    assert (max(apart) < most) == (not broken)


def survival(n=4_000):
    """Times, events, a whole number, a long tail, a category of three and its baseline."""
    rng = np.random.default_rng(2)
    kind = rng.integers(4, size=n)
    dummies = [1.0 * (kind == k) for k in (1, 2, 3)]
    x = np.stack([rng.integers(18, 91, n), rng.exponential(1.0, n), *dummies], 1)
    time = rng.exponential(200.0 * (1 + kind), n)
    card = Card(
        name="s", title="", summary="", records=n, record="a person", source="", licence="",
        public="", events=None, features=("age", "marker", "arm b", "arm c", "arm d"),
        units=("", "", "1 = b", "1 = c", "1 = d"),
        bounds=Bounds(covariates=((18, 90), (0, 20), (0, 1), (0, 1), (0, 1)), horizon=1_000.0,
                      source=""),
    )  # fmt: skip
    return SurvivalTable(card, x, time, rng.random(n) < 0.6)


def test_columns_keep_their_bounds_kinds_and_categories():
    table = survival()
    drawn = release.make(price.plan(table.card, 3.0, 1e-5), table, random.Random(0).getrandbits)
    known, original = read(table)
    values = drawn.values
    assert known.names == ("time", "event", *table.card.features)
    assert [column.title for column in known.columns] == ["time and event", "age", "marker",
                                                           "arm b"]  # fmt: skip
    for name, (low, high) in zip(known.names, known.ends, strict=True):
        assert low <= values[name].min() <= values[name].max() <= high
        assert len(values[name]) == len(table)
    assert (values["age"] == np.rint(values["age"])).all()
    assert not (values["marker"] == np.rint(values["marker"])).all()
    arms = [values[f"arm {k}"] for k in "bcd"]
    assert set(np.unique(arms)) == {0.0, 1.0}
    assert np.sum(arms, 0).max() == 1.0
    error, where = largest_error(known, original, values)
    assert error < 0.1, where
    slow = [v["time"][v["arm d"] == 1].mean() / v["time"].mean() for v in (original, values)]
    assert slow[1] == pytest.approx(slow[0], abs=0.15)  # later events in this arm, as in the table
    assert slow[0] > 1.2


def test_counts_become_shares_with_the_given_margins():
    noisy = np.array([[9.0, -4.0], [1.0, 2.0]])
    counts = shaped.projected(noisy, 10.0)
    assert counts.sum() == pytest.approx(10.0)
    assert counts.min() == 0.0
    rows, columns = np.array([6.0, 4.0]), np.array([5.0, 5.0])
    fitted = shaped.raked(counts, rows, columns)
    assert fitted.sum(1) == pytest.approx(rows, rel=1e-3)
    assert fitted.sum(0) == pytest.approx(columns, rel=1e-3)
    places = shaped.spread(np.array([0.5, 0.25, 0.25]), 9, np.random.default_rng(0))
    assert sorted(np.bincount(places, minlength=3) - np.array([4, 2, 2])) in ([0, 0, 1],)


def test_the_tree_begins_with_the_outcome_and_takes_the_strongest_pairs():
    rng, n = np.random.default_rng(4), 20_000
    y = rng.integers(2, size=n)
    near = np.where(rng.random(n) < 0.9, y, 1 - y)
    far = np.where(rng.random(n) < 0.9, near, 1 - near)
    x = np.stack([far, near], 1).astype(float)
    card = replace(CARD, records=n, features=("far", "near"))
    table = LabelledTable(card, x, y, (np.zeros(2), np.ones(2)))
    drawn = release.make(price.plan(card, 1.0, 1e-5), table, random.Random(0).getrandbits)
    assert drawn.tree == ((0, 2), (2, 1))


@pytest.mark.parametrize(("n", "epsilon"), [(20, 0.01), (30, 0.1), (25, 100.0)])
def test_few_records_and_much_noise_still_give_a_table(n, epsilon):
    table = survival(n)
    made = price.plan(table.card, epsilon, 1e-5)
    for seed in range(5):
        drawn = release.make(made, table, random.Random(seed).getrandbits)
        assert all(len(one) == n and np.isfinite(one).all() for one in drawn.values.values())


def test_bounds_without_a_whole_number_and_of_many_are_cut_too():
    rng = np.random.default_rng(6)
    x = np.stack([rng.uniform(0.5, 0.9, 50), rng.integers(0, 10**9, 50)], 1)
    card = replace(CARD, records=50, features=("a", "b"))
    ends = np.array([0.5, 0.0]), np.array([0.9, 1e9])
    table = LabelledTable(card, x, np.arange(50) % 2, ends)
    for seed in range(20):
        made = price.plan(card, 0.02, 1e-5)
        drawn = release.make(made, table, random.Random(seed).getrandbits)
        assert 0.5 <= drawn.values["a"].min() <= drawn.values["a"].max() <= 0.9
        assert drawn.values["b"].max() <= 1e9


# The command


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    return own.keep("study.csv", TABLE.encode(), SETTINGS)


def asked(table, to, epsilon=2.0, *more):
    return ["synthetic", table, "--epsilon", str(epsilon), "--to", str(to), *more]


def test_the_command_writes_a_table_with_its_card_and_enters_it(table, tmp_path, capsys):
    to = tmp_path / "again.csv"
    assert main(asked(table, to, 2.0, "--json")) == 0
    told = json.loads(capsys.readouterr().out)
    (entry,) = ledger.read(table).releases
    assert (entry.epsilon, entry.delta) == (told["guarantee"]["epsilon_proved"], 1e-5)
    assert (entry.paper, entry.method) == ("synthetic", "table")
    assert entry.epsilon == pytest.approx(2.0, rel=1e-6)
    assert told["kind"] == "Private synthetic data"
    assert told["guarantee"]["exact"]
    assert told["guarantee"]["status"] == "proved"
    assert len(told["releases"]) == 3
    assert told["files"] == [
        str(to),
        str(to.with_suffix(".toml")),
        str(to.with_suffix(".card.json")),
    ]
    kept = json.loads(to.with_suffix(".card.json").read_text())
    assert kept["kind"] == "Private synthetic data"
    assert kept["guarantee"] == told["guarantee"]
    rows = list(csv.DictReader(to.read_text().splitlines()))
    assert len(rows) == 200
    assert list(rows[0]) == ["time", "event", "age"]
    assert main(["table", "add", str(to), "--settings", str(to.with_suffix(".toml"))]) == 0
    again = data_catalog.card(capsys.readouterr().out.split()[0])
    assert again.record == "a synthetic record"
    assert again.bounds.covariates == data_catalog.card(table).bounds.covariates
    assert not again.taken


def test_nothing_is_overwritten_and_nothing_passes_a_limit(table, tmp_path, capsys):
    to = tmp_path / "a.csv"
    to.with_suffix(".toml").write_text("mine")
    assert main(asked(table, to)) == 2
    assert capsys.readouterr().err == "to: expected new files, got a.toml, which is there already\n"
    ledger.set_limit(table, ledger.Limit(3.0))
    assert main(asked(table, tmp_path / "b.csv", 2.0)) == 0
    capsys.readouterr()
    assert main(asked(table, tmp_path / "c.csv", 2.0)) == 2
    assert "nothing was drawn" in capsys.readouterr().err
    assert not list(tmp_path.glob("c.*"))
    assert len(ledger.read(table).releases) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["own_x_00000000", "--epsilon", "1"], "dataset: expected a table of your own"),
        (["flchain", "--epsilon", "0"], "epsilon: expected a number above 0"),
        (["flchain", "--epsilon", "nan"], "epsilon: expected a number above 0"),
        (["flchain", "--epsilon", "1", "--delta", "0"], "delta: expected a number above 0"),
        (["yesiwell", "--epsilon", "1"], "dataset: expected classes or survival times"),
        (["mnist", "--epsilon", "1"], "dataset: expected at most 100 columns, got 784"),
    ],
)
def test_errors_are_one_sentence(words, said, table, tmp_path, capsys):
    assert main(["synthetic", *words, "--to", str(tmp_path / "x.csv")]) == 2
    error = capsys.readouterr().err
    assert error.startswith(said)
    assert error.count("\n") == 1
    assert not (tmp_path / "x.csv").exists()


def test_where_to_is_checked_first(table, tmp_path, capsys):
    assert main(asked(table, tmp_path / "x.txt")) == 2
    assert "expected a file that ends with .csv" in capsys.readouterr().err
    assert main(asked(table, tmp_path / "no" / "x.csv")) == 2
    assert "expected a folder that can be written" in capsys.readouterr().err
    assert ledger.read(table).releases == ()


def test_bounds_from_the_data_are_refused(table):
    name = own.keep("study.csv", TABLE.encode(), accept=True)
    with pytest.raises(RequestError, match="known without the records"):
        price.plan(own.card(name), 1.0, 1e-5)


def test_a_table_of_classes_with_negative_numbers_comes_back(tmp_path, monkeypatch, capsys):
    """No number is escaped as if it were a formula, and the classes are those of the file."""
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    rows = [f"{-5 + i % 10 + i / 1000},{('x', 'y', 'z')[i % 3]}" for i in range(60)]
    toml = '[columns.a]\nlow = -6\nhigh = 6\n[columns.kind]\ncategories = ["x", "y", "z"]\n'
    name = own.keep("a.csv", "\n".join(["a,kind", *rows]).encode(), toml, "kind")
    to = tmp_path / "again.csv"
    assert main(asked(name, to, 3.0)) == 0
    rows = list(csv.DictReader(to.read_text().splitlines()))
    assert min(float(row["a"]) for row in rows) < 0.0
    capsys.readouterr()
    assert main(["table", "add", str(to), "--settings", str(to.with_suffix(".toml"))]) == 0
    again = data_catalog.card(capsys.readouterr().out.split()[0])
    assert again.classes == 3
    assert not again.taken


@pytest.mark.parametrize("words", [("1", "2", "3"), ("-1", "0", "1"), ("low, treated", "@home")])
def test_classes_keep_the_words_of_the_table(words, tmp_path, monkeypatch, capsys):
    """A model that learns from the synthetic table is right about the original."""
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    rows = [f'{10 * (i % len(words))},"{words[i % len(words)]}"' for i in range(600)]
    toml = f"[columns.a]\nlow = 0\nhigh = 20\n[columns.grade]\ncategories = {json.dumps(words)}\n"
    name = own.keep("a.csv", "\n".join(["a,grade", *rows]).encode(), toml, "grade")
    to = tmp_path / "again.csv"
    assert main(asked(name, to, 50.0)) == 0
    found = list(csv.DictReader(to.read_text().splitlines()))
    place = {shared.words_only(word): k for k, word in enumerate(words)}
    assert {row["label"] for row in found} == {*place}
    assert np.mean([abs(float(row["a"]) - 10 * place[row["label"]]) < 2 for row in found]) > 0.9
    assert json.loads(to.with_suffix(".card.json").read_text())["classes"] == list(words)
    capsys.readouterr()
    assert main(["table", "add", str(to), "--settings", str(to.with_suffix(".toml"))]) == 0
    again = capsys.readouterr().out.split()[0]
    assert own.words(again).classes == tuple(place)


@pytest.mark.thorough
def test_a_synthetic_record_of_a_table_of_classes_is_in_one_category(tmp_path, monkeypatch, capsys):
    """Noise alone leaves a few in none of them: what is no category at all is counted too."""
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    stages = ("early", "middle", "late", ">=4")
    rows = [f"{stages[i % 4]},{(i // 4) % 2},{'mf'[i % 3 > 0]}" for i in range(3_000)]
    toml = (
        f"[columns]\nstage.categories = {list(stages)}\nsex.categories = ['m', 'f']\n"
        "kind.categories = ['0', '1']\n"
    )
    name = own.keep("a.csv", "\n".join(["stage,kind,sex", *rows]).encode(), toml, "kind")
    to = tmp_path / "again.csv"
    assert main(asked(name, to, 3.0, "--json")) == 0
    assert [one["levels"] for one in json.loads(capsys.readouterr().out)["columns"]] == [2, 5, 3]
    rows = list(csv.DictReader(to.read_text().splitlines()))
    for words in (("early", "middle", "late", "from 4"), ("m", "f")):
        key = "sex" if "m" in words else "stage"
        held = [sum(int(row[f"{key} {word}"]) for word in words) for row in rows]
        assert max(held) == 1
        assert held.count(0) < 60
