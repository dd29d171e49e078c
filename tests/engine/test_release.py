"""Releases: secret noise, no measure, no store, and nothing written but what is released."""

import json
import os
import stat
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import binomtest, kstest

from benchmarks.crash import Verb, at_every_point
from datasets import catalog as data_catalog
from datasets import own
from engine.catalog import catalog
from engine.cli.main import main
from engine.core.errors import RequestError
from engine.core.gauges import gauges
from engine.core.kept import released
from engine.privacy import noise, secret
from engine.privacy.mechanisms import GammaSphere, Gaussian, Laplace
from engine.runs import sealing
from engine.runs.job import request
from engine.runs.release import ReleaseError, checked, release
from engine.training.sampling import by_gaps, coins

SHORT = {"intervals": 5, "steps": 2}
ASKED = ["run", "survival", "dp_gd", "--dataset", "heart", "--set", "intervals=5", "--release"]
ALONE = {"release.npz", "card.json", "README.md"}
FILES = ALONE | {"coefficients.csv", "model.json", "predict.py", "predict.R"}
BROKEN = 1e-9
"""A sample of secret numbers fails its test this seldom, and cannot be drawn again."""


def job(method="dp_gd", values=None, axes=None, seeds=(0,)):
    return request("survival", method, "heart", SHORT if values is None else values, axes, seeds)


@pytest.fixture
def zeros(monkeypatch):
    """An operating system that has nothing but zeros to offer, to see who asks it."""
    monkeypatch.setattr(os, "urandom", lambda count: bytes(count))


def test_secret_numbers_are_uniform_and_have_53_bits():
    actual = secret.uniform((200, 100), secret.Secret()).numpy().ravel()
    assert kstest(actual, "uniform").pvalue > BROKEN
    assert (actual * 2.0**53 == np.round(actual * 2.0**53)).all()
    assert 0.0 <= actual.min() < actual.max() < 1.0
    assert (actual * 2.0**32 != np.round(actual * 2.0**32)).any()


@pytest.mark.parametrize("kind", [Gaussian, Laplace, lambda s, e: GammaSphere(s, e, 6)])
def test_every_mechanism_draws_from_the_operating_system(kind, monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda count: bytes([17]) * count)
    rng = secret.Secret()
    first = noise.draw([kind(1.0, 1.0)] * 2, 6, rng)
    rng.manual_seed(7)  # torch's own state does not matter
    assert torch.equal(first, noise.draw([kind(1.0, 1.0)] * 2, 6, rng))


def test_coins_of_sampling_come_from_the_operating_system(zeros):
    assert coins((1000,), 1e-6, secret.Secret()).all()  # zero is below every rate


def test_a_secret_batch_of_prototypes_is_drawn_by_the_operating_system():
    """Torch's own state may be known, and the batch is another all the same."""
    rng, sizes, batches = secret.Secret(), torch.tensor([2000, 1200]), []
    for _ in range(2):
        rng.manual_seed(7)
        batches.append(by_gaps(2000, sizes, 0.25, rng))
    (place, there), (other, _) = batches
    assert place.shape != other.shape or not torch.equal(place, other)
    for row, kept, size in zip(place, there, sizes.tolist(), strict=True):
        chosen = row[kept]
        assert binomtest(len(chosen), size, 0.25).pvalue > BROKEN
        assert bool((chosen.diff() > 0).all())
        assert int(chosen[-1]) < size


def test_a_secret_batch_at_rate_one_holds_every_record():
    place, there = by_gaps(20, torch.tensor([20, 12]), 1.0, secret.Secret())
    for row, kept, size in zip(place, there, (20, 12), strict=True):
        assert row[kept].tolist() == list(range(size))


def test_torch_s_own_draws_start_from_a_state_that_is_filled_every_time():
    rng = secret.Secret()
    states = []
    for _ in range(2):
        rng.refill()
        states.append(rng.get_state().clone())
        draws = torch.rand(4000, generator=rng, dtype=torch.float64).numpy()
        assert kstest(draws, "uniform").pvalue > BROKEN
    words = [state[24 : 24 + 8 * 624].numpy().copy().view(np.uint64) for state in states]
    assert max(word.max() for word in words) < 2**32
    assert (words[0] == words[1]).sum() < 10  # by chance one of 7 million
    again = torch.Generator().manual_seed(states[0][:8].numpy().view(np.int64)[0].item())
    assert not torch.equal(again.get_state(), states[0])  # the seed tells nothing of the state


def test_no_two_releases_are_alike_and_only_what_is_released_is_there():
    data = data_catalog.load("heart")
    first, second = release(job(), data), release(job(), data)
    assert set(first) == {"coefficients", "start", "clip", "centre", "span", "norm", "horizon"}
    assert (first["coefficients"] != second["coefficients"]).all()
    np.testing.assert_array_equal(first["centre"], second["centre"])


def test_the_command_prints_no_measure_and_stores_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    folder = tmp_path / "out"
    assert main([*ASKED, "--set", "steps=2", "--to", str(folder)]) == 0
    output = capsys.readouterr().out
    assert not (tmp_path / "home").exists()
    for name, gauge in gauges(job().entry().info).items():
        assert name not in output
        assert gauge.label not in output
    assert {path.name for path in folder.iterdir()} == FILES
    card = json.loads((folder / "card.json").read_text())
    assert card["guarantee"]["secret"]
    assert card["curves"]["mu"] > 0
    assert len(card["curves"]["deltas"]) == len(card["curves"]["epsilons"])
    assert "deployment.basic.data_curators" in card["registry"]["unfilled"]
    assert not any("public" in limit for limit in card["guarantee"]["limits"])
    assert "seed" not in (folder / "README.md").read_text().split("Released")[0]
    with np.load(folder / "release.npz", allow_pickle=False) as arrays:
        from engine.catalog import paper

        assert all(released(paper("survival").arrays, name) for name in arrays)
    assert main([*ASKED, "--to", str(folder)]) == 2  # a release is never written over
    assert "expected a folder without a release" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("method", "axes", "seeds", "says"),
    [
        ("dp_gd", {"epsilon": (0.5, 1.0)}, (0,), "expected one setting and one seed, got 2"),
        ("dp_gd", {}, (0, 1), "expected one setting and one seed, got 2"),
        ("exact", {}, (0,), "which is proved under an assumption"),
        ("psgld", {}, (0,), "which is heuristic"),
        ("non_private", {}, (0,), "which is not private"),
    ],
)
def test_what_is_no_proved_release_is_refused(method, axes, seeds, says):
    with pytest.raises(RequestError, match=says):
        checked(job(method, {}, axes, seeds), data_catalog.card("heart"))


def test_a_table_whose_bounds_are_its_records_is_refused_with_what_to_do():
    taken = replace(data_catalog.card("heart"), name="own_ward_1", taken=True)
    with pytest.raises(RequestError, match=r"state them, add the table again.*ledger own_ward_1"):
        checked(job("km_dp", {}, {}, (0,)), taken)


def test_the_printed_scale_is_refused():
    printed = job("out_pert", {"calibration": "paper"})
    with pytest.raises(RequestError, match="proved under an assumption"):
        checked(printed, data_catalog.card("heart"))


def test_a_card_that_states_less_than_its_releases_cost_is_refused(tmp_path, monkeypatch, capsys):
    publication = catalog()["survival"]
    right = publication.entry("dp_gd")

    def low(spec, n, unit):
        return replace(right.guarantee(spec, n, unit), epsilon_proved=0.01)

    wrong = replace(publication, methods=(replace(right, guarantee=low),))
    monkeypatch.setitem(catalog(), "survival", wrong)
    assert main([*ASKED, "--set", "steps=2", "--to", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "epsilon_proved: expected a card that states at least the ε = " in said
    assert said.strip().endswith("cost, got 0.01")
    assert not (tmp_path / "out").exists()


def test_a_release_needs_a_folder_and_a_folder_a_release(capsys):
    assert main(ASKED) == 2
    assert "release: expected --to and a folder" in capsys.readouterr().err
    assert main([*ASKED[:-1], "--to", "x"]) == 2
    assert "to: expected --release with it" in capsys.readouterr().err


def test_a_release_does_not_go_into_the_root(capsys):
    assert main([*ASKED, "--to", "/"]) == 2
    assert "--to: expected a folder that holds nothing, got /" in capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.parametrize(("classes", "method"), [(2, "glvq_dp"), (4, "gmlvq_dp")])
def test_a_table_of_one_s_own_is_released_whatever_its_classes(
    classes, method, tmp_path, monkeypatch, capsys
):
    """The replay leaves two classes, and has room for the rounding of its sums."""
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    rng = np.random.default_rng(classes)
    y = np.arange(400) % classes
    x = np.clip(rng.normal(y[:, None] - 1.5, 1.0, (400, 3)), -4.0, 4.0)
    rows = (f"{a:.4f},{b:.4f},{c:.4f},c{k}" for (a, b, c), k in zip(x, y, strict=True))
    names = ", ".join(f"c{k}" for k in range(classes))
    lines = f"every column: -4 to 4\nclasses: {names}"
    name = own.keep("a.csv", "\n".join(["a,b,c,kind", *rows]).encode(), lines, "kind")
    told = ["--dataset", name, "--set", "epochs=1", "--release", "--to", str(tmp_path / "out")]
    assert main(["run", "lvq", method, *told]) == 0, capsys.readouterr().err
    assert {"card.json", "model.json", "predict.py"} <= {*os.listdir(tmp_path / "out")}
    table = (tmp_path / "out" / "prototypes.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in table] == ["class", *(f"c{k}" for k in range(classes))]


def test_a_result_that_is_withheld_releases_nothing(monkeypatch):
    from engine.papers.survival.mechanisms import output

    monkeypatch.setattr(output, "TOLERANCE", 0.0)
    with pytest.raises(ReleaseError, match="expected a result, got none"):
        release(job("out_pert", {"intervals": 5}), data_catalog.load("heart"))


COMMAND = [*ASKED, "--set", "steps=2", "--to"]


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Draws that take no time, each of which leaves a line in a file; nothing is replayed."""
    monkeypatch.setattr("engine.cli.releasing.prove", lambda *_: None)
    log = tmp_path / "draws"
    log.touch()

    def draw(*_, **__):
        with log.open("a") as file:
            print(value := len(log.read_text().splitlines()) + 1, file=file)
        return {"coefficients": np.full((1, 6), float(value))}

    monkeypatch.setattr("engine.runs.release.release", draw)
    return lambda: len(log.read_text().splitlines())


def whole(folder):
    """The released coefficient of a folder in which everything is there and can be read."""
    assert {path.name for path in folder.iterdir()} == ALONE
    assert json.loads((folder / "card.json").read_text())["guarantee"]["secret"]
    with np.load(folder / "release.npz", allow_pickle=False) as arrays:
        return float(arrays["coefficients"][0, 0])


@pytest.mark.thorough
def test_wherever_it_is_killed_a_release_is_whole_or_not_there_and_draws_once(drawn, capsys):
    def wrong(place):
        folder, begun = place / "out", place / ".out.release" / "made" / "release.npz"
        kept, before, there = begun.exists(), drawn(), folder.exists()
        held = whole(folder) if there else None
        code = main([*COMMAND, str(folder)])
        faults = []
        if code != (2 if there else 0):
            faults.append(f"the second call ends with {code}: {capsys.readouterr().err}")
        if held is not None and whole(folder) != held:
            faults.append("a release was written over")
        if (kept or there) and drawn() != before:
            faults.append("noise was drawn again")
        if kept and "no noise was drawn again" not in capsys.readouterr().err:
            faults.append("nobody is told that the noise is the first")
        if whole(folder) > drawn():
            faults.append("expected the noise that was drawn")
        return [*faults, *(path.name for path in place.iterdir() if path != folder)]

    verb = Verb(lambda place: main([*COMMAND, str(place / "out")]), wrong)
    kills, faults = at_every_point("release", verb)
    assert kills > 20
    assert faults == []


def test_noise_that_was_drawn_is_not_published_with_another_card(
    drawn, capsys, tmp_path, monkeypatch
):
    """As where the program was updated between a kill and the same command."""
    with monkeypatch.context() as broken:
        broken.setattr("engine.cli.releasing.written", lambda *_: [][0])
        with pytest.raises(IndexError):
            main([*COMMAND, str(tmp_path / "out")])

    def other(*about, **how):
        return replace(checked(*about, **how), epsilon_proved=3.0)

    monkeypatch.setattr("engine.runs.release.checked", other)
    assert main([*COMMAND, str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "whose noise is drawn, got another by the same command" in said
    assert "take its budget as spent, and choose another folder" in said
    assert "finish it with" not in said
    assert (drawn(), (tmp_path / "out").exists()) == (1, False)


def test_another_request_does_not_end_a_release_that_was_begun(
    drawn, capsys, tmp_path, monkeypatch
):
    folder = tmp_path / "out"

    def fails(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("engine.cli.releasing.written", fails)
        assert main([*COMMAND, str(folder)]) == 1
    assert "No space left on device" in capsys.readouterr().err
    assert not folder.exists()
    assert stat.S_IMODE((tmp_path / ".out.release").stat().st_mode) == 0o700
    assert main([*ASKED, "--set", "steps=3", "--to", str(folder)]) == 2
    said = capsys.readouterr().err
    assert (
        "whose noise is drawn, got another: finish it with `python -m engine run survival" in said
    )
    assert "steps=2" in said
    assert main([*COMMAND, str(folder)]) == 0
    assert (whole(folder), drawn()) == (1.0, 1)


def test_what_is_left_of_a_damaged_release_says_that_its_budget_is_spent(drawn, capsys, tmp_path):
    half, kept = tmp_path / "half", tmp_path / ".out.release" / "made"
    half.mkdir()
    (half / "release.npz").touch()
    assert main([*COMMAND, str(half)]) == 2
    assert "a part of a release: take its budget as spent" in capsys.readouterr().err
    kept.mkdir(parents=True)
    (kept / "release.npz").write_bytes(b"PK damaged")
    made = job("dp_gd", SHORT)
    card = checked(made, data_catalog.card("heart")).json()
    command = {"job": sealing.named(made.id, repr(card)), "command": "x"}
    (kept.parent / "request.json").write_text(json.dumps(command))
    assert main([*COMMAND, str(tmp_path / "out")]) == 1
    assert "take its budget as spent" in capsys.readouterr().err
    assert drawn() == 0


def test_one_process_at_a_time_makes_a_release(drawn, capsys, tmp_path):
    with sealing.begun(tmp_path / "out", "x", "y"):
        assert main([*COMMAND, str(tmp_path / "out")]) == 2
    assert "another process makes a release now" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [tmp_path / "draws"]  # where none was drawn, nothing stays


@pytest.mark.parametrize("replayed", [True, False])
def test_a_method_that_fails_is_one_sentence_and_writes_nothing(
    replayed, tmp_path, monkeypatch, capsys
):
    """Before the release, where it is replayed, or in it."""
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))

    def step(self, *_):
        raise KeyError("age")

    if not replayed:
        monkeypatch.setattr("engine.cli.releasing.prove", lambda *_: None)
    kind = type(job().entry().load())
    monkeypatch.setattr(kind, "step", step)
    assert main([*ASKED, "--set", "steps=2", "--to", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith("release: expected a result, got none")
    assert said.endswith("ended with KeyError: 'age'")
    assert not (tmp_path / "out").exists()
