"""The simulated health social network and its loader: counts, the best accuracy, bad files."""

from dataclasses import replace

import numpy as np
import pytest

from datasets import catalog, motivation, social, social_files, yesiwell, yesiwell_large
from datasets.base import PanelTable
from engine.core.errors import DatasetError

USERS, TIMES = 6, 5


@pytest.fixture(scope="module")
def daily() -> PanelTable:
    return yesiwell.load()


def test_counts_are_those_of_the_study(daily):
    # the simulator scatters exact numbers, so nothing of the 2 % that would be allowed is used
    assert daily.x.shape == (254, 300, 30)
    assert len(daily.friends) == len(np.unique(daily.friends, axis=0)) == 1_383
    assert daily.x[:, :, 6:26].sum() == 2_766
    assert daily.x[:, :, 0].sum() == 11_458
    assert daily.card.simulated
    assert "imulated" in daily.card.title
    degree = np.bincount(daily.friends.ravel(), minlength=254)
    assert 1 <= degree.min() <= degree.max() <= motivation.MOST_FRIENDS


@pytest.mark.thorough
def test_the_same_seed_draws_the_same_panel(daily):
    again = daily.again(social.PERSISTENCE, social.INFLUENCE)
    assert np.array_equal(again.x, daily.x)
    assert not np.array_equal(daily.again(0.5, 0.0).y, daily.y)


@pytest.mark.parametrize(("persistence", "influence"), [(0.98, 0.1), (0.9, 0.5), (0.0, 0.0)])
@pytest.mark.thorough
def test_the_best_accuracy_is_what_the_filter_reaches(daily, persistence, influence):
    society = motivation.Society(254, daily.friends, persistence, influence)
    promised = motivation.Filter(society).accuracy()
    panel = daily.again(persistence, influence)
    chance, y = panel.chance[:, 20:], panel.y[:, 20:]
    right = ((chance > 0.5) == y).mean()
    # Given the chances each prediction is right by a coin of its own, so the share of 71,120 has
    # deviation below 0.5 / sqrt(71120) = 0.0019; five of them. What the chances average to varies
    # as motivation does: its 254 series are correlated over about 1 / (1 - 0.98) = 50 days.
    assert abs(right - np.maximum(chance, 1 - chance).mean()) < 0.0095
    assert abs(right - promised) < 0.0095 + 5 * 0.25 * (2 * 50 / 71_120) ** 0.5
    if persistence == 0.0:
        assert promised == pytest.approx(0.5, abs=1e-6)


def test_chances_are_calibrated(daily):
    chance, y = daily.chance[:, 20:].ravel(), daily.y[:, 20:].ravel()
    for low in np.arange(0.1, 0.9, 0.1):
        inside = (chance >= low) & (chance < low + 0.1)
        bound = 5 * 0.5 / inside.sum() ** 0.5
        assert abs(chance[inside].mean() - y[inside].mean()) < bound


def test_the_filter_is_that_of_one_mode_by_hand():
    # without friends' influence each user is alone: iterate the scalar Riccati equation
    society = motivation.Society(3, np.array([[0, 1], [1, 2]]), 0.9, 0.0)
    variance = 1.0
    for _ in range(200):
        after = variance / (1 + motivation.PRECISION * variance)
        variance = 0.81 * after + society.noise
    actual = society.diagonal(motivation.Filter(society).ahead)
    assert actual == pytest.approx(np.full(3, variance), rel=1e-9)


def test_functions_of_the_graph_are_those_of_its_eigenvalues():
    friends = motivation.friendships(40, 90, 2)
    society = motivation.Society(40, friends, 0.9, 0.4)
    matrix = society.spread(np.eye(40))
    values, vectors = np.linalg.eigh(matrix)
    gain = motivation.Filter(society).gain
    exact = vectors @ np.diag(gain(values)) @ vectors.T
    assert society.apply(gain, np.eye(40)) == pytest.approx(exact, abs=1e-6)


def test_the_normal_distribution_function():
    assert motivation.normal(np.array([-1.96, 0.0, 1.0])) == pytest.approx(
        [0.0249979, 0.5, 0.8413447], abs=2e-7
    )


def csv(columns: dict[str, list[object]]) -> bytes:
    rows = [
        ",".join(columns),
        *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    return "\n".join(rows).encode()


def files() -> dict[str, dict[str, list[object]]]:
    """Six users in a ring at five times."""
    rng = np.random.default_rng(0)
    pairs = [(f"u{u}", t) for u in range(USERS) for t in range(TIMES)]
    keys = {"user": [u for u, _ in pairs], "time": [t for _, t in pairs]}
    values = {name: list(rng.integers(0, 5, len(pairs))) for name in social.ATTRIBUTES}
    return {
        "attributes": {**keys, **values},
        "friendships": {
            "user": [f"u{u}" for u in range(USERS)],
            "friend": [f"u{(u + 1) % USERS}" for u in range(USERS)],
        },
        "labels": {**keys, "label": list(rng.integers(0, 2, len(pairs)))},
    }


def read(parts: dict[str, dict[str, list[object]]]) -> PanelTable:
    return social_files.panel(*(csv(part) for part in parts.values()), yesiwell.OWN)


def test_three_files_are_read_whatever_the_order_of_their_rows():
    parts = files()
    panel = read(parts)
    assert panel.x.shape == (USERS, TIMES, 30)
    assert panel.card.records == USERS
    assert not panel.card.simulated
    for part in ("attributes", "labels"):
        parts[part] = {name: column[::-1] for name, column in parts[part].items()}
    again = read(parts)
    assert np.array_equal(again.x, panel.x)
    assert np.array_equal(again.y, panel.y)
    assert panel.x[:, :, 27].min() == 15.0  # clipped to the public bounds of the body mass index


def drop(rows: dict[str, list[object]], keep) -> dict[str, list[object]]:
    chosen = [i for i, row in enumerate(zip(*rows.values(), strict=True)) if keep(row)]
    return {name: [column[i] for i in chosen] for name, column in rows.items()}


BAD = {
    "a user without friends": (
        lambda f: f.update(friendships=drop(f["friendships"], lambda r: "u3" not in r)),
        "expected at least one friend for each user.* 'u3'",
    ),
    "one point in time": (
        lambda f: f.update({k: drop(f[k], lambda r: r[1] == 0) for k in ("attributes", "labels")}),
        "expected at least two points in time",
    ),
    "one user with one point in time": (
        lambda f: f.update(attributes=drop(f["attributes"], lambda r: r[0] != "u2" or r[1] == 0)),
        "expected one row for each user and time, got 0 for user 'u2' at time 1",
    ),
    "a missing attribute": (
        lambda f: f["attributes"].pop("body mass index"),
        "got none named 'body mass index'",
    ),
    "a missing value": (
        lambda f: f["attributes"]["goals set"].__setitem__(3, ""),
        "expected a number in column 'goals set', row 5, got 'nothing'",
    ),
    "an unknown user": (
        lambda f: f["friendships"]["friend"].__setitem__(0, "nobody"),
        "expected users of attributes.csv, got 'nobody'",
    ),
    "a duplicated friendship": (
        lambda f: [f["friendships"][k].append(v) for k, v in (("user", "u1"), ("friend", "u0"))],
        "expected each friendship once, got that of 'u0' and 'u1' 2 times",
    ),
    "oneself as a friend": (
        lambda f: f["friendships"]["friend"].__setitem__(0, "u0"),
        "expected two different users",
    ),
    "labels all alike": (
        lambda f: f["labels"].update(label=[1] * (USERS * TIMES)),
        "expected labels 0 and 1, got 1 for every user and time",
    ),
    "another label": (lambda f: f["labels"]["label"].__setitem__(0, 2), "got 2$"),
    "half a label": (lambda f: f["labels"]["label"].__setitem__(0, 0.5), "got 0.5$"),
    "a gap in time": (
        lambda f: f.update({k: drop(f[k], lambda r: r[1] != 2) for k in ("attributes", "labels")}),
        "expected times that follow each other by 1, got a gap after time 1",
    ),
    "a label of an unknown user": (
        lambda f: f["labels"].update(user=["nobody", *f["labels"]["user"][1:]]),
        "labels.csv: expected users of attributes.csv, got 'nobody'",
    ),
    "a label at another time": (
        lambda f: f["labels"].update(time=[77, *f["labels"]["time"][1:]]),
        f"labels.csv: expected times 0 to {TIMES - 1}, got 77",
    ),
    "a label twice": (
        lambda f: f["labels"].update({k: [*v, v[0]] for k, v in f["labels"].items()}),
        "labels.csv: expected one row for each user and time, got 2 for user 'u0' at time 0",
    ),
    "no rows": (
        lambda f: f.update(friendships=drop(f["friendships"], lambda r: False)),
        "friendships.csv: expected 1 to .* values, got 0",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_in_one_sentence(case):
    change, message = BAD[case]
    parts = files()
    change(parts)
    with pytest.raises(DatasetError, match=message) as caught:
        read(parts)
    assert "\n" not in str(caught.value)


def test_files_in_the_data_folder_replace_the_simulator(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_DATA", str(tmp_path))
    assert catalog.card("yesiwell").simulated
    (tmp_path / "yesiwell").mkdir()
    for name, part in files().items():
        (tmp_path / "yesiwell" / f"{name}.csv").write_bytes(csv(part))
    assert catalog.card("yesiwell").records == USERS
    assert not catalog.load("yesiwell").card.simulated
    (tmp_path / "yesiwell" / "labels.csv").unlink()
    with pytest.raises(DatasetError, match=r"labels.csv: expected it beside the other two"):
        catalog.load("yesiwell")


def test_a_file_that_is_no_table():
    with pytest.raises(DatasetError, match=r"attributes.csv: expected a CSV file"):
        social_files.panel(b"", b"", b"", yesiwell.OWN)


@pytest.mark.thorough
def test_a_rare_count_above_its_public_bound_is_cut():
    """6,250 users draw 11 competitions for somebody in one week; 10 is the public bound."""
    share = 6_250 / yesiwell.USERS
    counts = tuple(round(share * count) for count in (1_383, 2_766, 11_458))
    card = replace(yesiwell_large.CARD, records=6_250)
    panel = social.simulated(card, 38, counts, social.PERSISTENCE, social.INFLUENCE)
    assert panel.x[:, :, 0].max() == 10.0
    assert panel.x[:, :, 0].sum() == pytest.approx(counts[2], rel=0.02)
