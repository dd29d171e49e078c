"""Private training against plain PyTorch and Opacus 1.6, on this machine in this run.

Data are random in the shape of MNIST: time does not depend on the pixels. Rivals
take turns of a few steps each, so that a busy machine disturbs both alike; the median
of three turns counts. Run `python -m benchmarks.enadpp`.
"""

import itertools
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.row import Row, Timing, at_most, beside, high_water, race
from datasets import catalog
from engine.core.errors import DatasetError
from engine.papers.enadpp import PAPER
from engine.papers.enadpp.spec import EnadppSpec
from engine.privacy.mechanisms import Gaussian
from engine.runs.driver import drive
from engine.runs.job import request
from engine.runs.memory import keep
from engine.runs.results import collect
from engine.training.ghost import clipped_sum
from engine.training.network import Network, Parameters, cnn, mlp
from engine.training.sampling import poisson
from engine.training.steps import Descent, add_noise, descend

RECORDS, LOT, EPOCH = 60_000, 600, 100
WIDE, SMALL = (784, 512, 256, 10), (64, 64, 32, 10)
Steps = Callable[[int], None]
"""Takes so many steps of training."""


def table(features: int, records: int = RECORDS) -> tuple[Tensor, Tensor]:
    """Random records and classes."""
    rng = torch.Generator().manual_seed(0)
    x = torch.rand(records, features, generator=rng)
    return x, torch.randint(0, 10, (records,), generator=rng)


def private(network: Network, x: Tensor, y: Tensor, lot: int, replicas: int = 1) -> Steps:
    """Our steps where the records are: Poisson lots, ghost clipping, Gaussian noise."""
    parameters: Parameters = network.init(range(replicas), x.device)
    rng = torch.Generator(x.device).manual_seed(0)
    ones = torch.ones(replicas, device=x.device)
    how, noises = Descent(0.1 * ones, float(lot)), [Gaussian(1.0, 1.0)] * replicas

    def take(count: int) -> None:
        with torch.no_grad():
            for _ in range(count):
                index, present = poisson(replicas, len(x), lot / len(x), rng)
                rows = x.index_select(0, index.flatten()).view(*index.shape, *x.shape[1:])
                clipped = clipped_sum(network, parameters, rows, y[index], present, ones)
                add_noise(clipped.sums, noises, rng)
                descend(parameters, None, clipped.sums, how)

    return take


def module(widths: tuple[int, ...]) -> nn.Sequential:
    """The linear network as torch's own modules."""
    layers: list[nn.Module] = []
    for inputs, outputs in itertools.pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def convolutional() -> nn.Sequential:
    """The network of `cnn(28, 10, (16, 32), 128)` as torch's own modules."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(512, 128), nn.ReLU(), nn.Linear(128, 10),
    )  # fmt: skip


def plain(net: nn.Module, x: Tensor, y: Tensor, lot: int) -> Steps:
    """Plain PyTorch: shuffled batches, no privacy."""
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1)

    def take(count: int) -> None:
        order = torch.randperm(len(x))
        for i in range(count):
            rows = order[i * lot : (i + 1) * lot]
            optimiser.zero_grad()
            torch.autograd.backward(functional.cross_entropy(net(x[rows]), y[rows]))
            optimiser.step()

    return take


def opacus(net: nn.Module, x: Tensor, y: Tensor, lot: int, mode: str) -> Steps:
    """Opacus in one of its modes, on shuffled batches without its data loader's cost."""
    from opacus import PrivacyEngine

    warnings.simplefilter("ignore")
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=lot)
    optimiser, criterion = torch.optim.SGD(net.parameters(), lr=0.1), nn.CrossEntropyLoss()
    made = PrivacyEngine().make_private(
        module=net, optimizer=optimiser, data_loader=loader, noise_multiplier=1.0,
        max_grad_norm=1.0, grad_sample_mode=mode, criterion=criterion, poisson_sampling=False,
    )  # fmt: skip
    net, optimiser, criterion = made[0], made[1], made[2] if mode == "ghost" else criterion

    def take(count: int) -> None:
        order = torch.randperm(len(x))
        for i in range(count):
            rows = order[i * lot : (i + 1) * lot]
            optimiser.zero_grad()
            criterion(net(x[rows]), y[rows]).backward()
            optimiser.step()

    return take


def timed(rivals: dict[str, tuple[Steps, int]]) -> dict[str, Timing]:
    """Seconds per step of each rival, which take turns of so many steps."""
    times = race({name: partial(steps, count) for name, (steps, count) in rivals.items()})
    return {name: times[name] * (1.0 / rivals[name][1]) for name in rivals}


def hooks(x: Tensor, y: Tensor) -> Timing:
    """Seconds of an epoch of the linear network in Opacus' default mode."""
    rival = opacus(module(WIDE), x, y, LOT, "hooks")
    return timed({"hooks": (rival, 1)})["hooks"] * EPOCH


def epochs() -> list[Row]:
    """One epoch of the private linear network against plain PyTorch and Opacus.

    As the driver does, freed memory is kept, for the rivals too. Opacus' gradients of single
    records gain most from that, so its default mode is timed as its own users run it as well.
    """
    x, y = table(784)
    usual = hooks(x, y)
    keep()
    rivals = {
        "ours": (private(mlp(*WIDE), x, y, LOT), 15),
        "plain": (plain(module(WIDE), x, y, LOT), 15),
        "ghost": (opacus(module(WIDE), x, y, LOT, "ghost"), 15),
    }
    took = {name: seconds * EPOCH for name, seconds in timed(rivals).items()}
    kept = hooks(x, y)
    what, size = "private epoch, 784-512-256-10, lot 600", "MNIST's size, 100 steps"
    return [
        at_most(f"{what}, against plain PyTorch", took["ours"], took["plain"], 1.35, size),
        at_most(f"{what}, against Opacus ghost", took["ours"], took["ghost"], 1.0, size),
        at_most(
            f"{what}, against Opacus hooks", took["ours"], usual, 0.05, f"{size}, as installed"
        ),
        beside(
            f"{what}, against Opacus hooks",
            took["ours"],
            kept,
            f"{size}, with freed memory kept for it, which it does not do by itself",
        ),
    ]


def convolutions() -> list[Row]:
    """One epoch of the private network of two convolutions against Opacus."""
    keep()
    x, y = table(784)
    x = x.view(-1, 1, 28, 28)
    rivals = {
        "ours": (private(cnn(28, 10, (16, 32), 128), x, y, LOT), 3),
        "ghost": (opacus(convolutional(), x, y, LOT, "ghost"), 3),
    }
    took = {name: seconds * EPOCH for name, seconds in timed(rivals).items()}
    note = "two 5 x 5 convolutions of 16 and 32 channels"
    what = "private CNN epoch, against Opacus ghost"
    return [at_most(what, took["ours"], took["ghost"], 1.0, note)]


def replicas() -> list[Row]:
    """21 runs as the engine groups them, against one after another.

    On digits what Python takes for a step is shared. On MNIST products take most of a step: the
    time of the first layer's alone, together over one by one, stands beside as the bound of what
    grouping can gain.
    """
    rows = []
    for what, widths, records, lot, count, most in (
        ("21 runs on digits, 200 steps", SMALL, 1437, 144, 200, 0.45),
        ("21 runs of an MNIST epoch", WIDE, RECORDS, LOT, EPOCH, 1.0),
    ):
        x, y = table(widths[0], records)
        group = min(21, PAPER.entry("psgd").chunk(EnadppSpec(), records, "cpu"))
        full, rest = divmod(21, group)
        rivals = {
            str(size): (private(mlp(*widths), x, y, lot, replicas=size), max(2, 20 // size))
            for size in {1, group, rest} - {0}
        }
        took = timed(rivals)
        ours = took[str(group)] * full + took[str(rest or 1)] * (rest > 0)
        note = (
            f"{group} at a time, against one by one; products alone {_products(widths, lot, group)}"
        )
        rows.append(at_most(what, ours * count, took["1"] * (21 * count), most, note))
    return rows


def _products(widths: tuple[int, ...], lot: int, group: int) -> str:
    """What a group's products of the first layer take, over those of one after another."""
    x, weight = torch.rand(group, lot, widths[0]), torch.rand(group, widths[0], widths[1])
    pairs = list(zip(x, weight, strict=True))
    took = race(
        {
            "together": lambda: [x @ weight for _ in range(20)],
            "alone": lambda: [a @ b for _ in range(20) for a, b in pairs],
        }
    )
    ratios = [a / b for a, b in zip(took["together"].seconds, took["alone"].seconds, strict=True)]
    return f"{min(ratios):.2g} to {max(ratios):.2g}"


def memory() -> list[Row]:
    """Largest memory of a process that takes three steps, beyond one that only imports."""
    base, unit, rows = _peak("nothing"), "MB", []
    for ours, rivals, note in (
        ("ours", ("plain", "ghost", "hooks"), "784-512-256-10, lot 600, data included"),
        ("ours cnn", ("plain cnn", "ghost cnn", "hooks cnn"), "two convolutions, lot 600"),
    ):
        mine = _peak(ours) - base
        for rival in rivals:
            what = f"peak memory, against {rival}"
            rows.append(Row(what, mine, _peak(rival) - base, unit, "", None, note))
    return rows


def accuracies() -> list[Row]:
    """What the defaults reach on MNIST: two budgets, and no privacy; some minutes.

    The same by hand: `python -m engine run enadpp dpsgd --dataset mnist --set epsilon=3`.
    """
    try:
        data = catalog.load("mnist")
    except DatasetError as error:
        return [Row.missing("accuracy on MNIST", "as published", str(error))]
    asked: tuple[tuple[str, dict[str, float], float, float | None, str], ...] = (
        ("dpsgd", {"epsilon": 1.0}, 0.95, 0.9495, "EnADPP prints 94.95 %"),
        ("dpsgd", {"epsilon": 3.0}, 0.97, None, "delta 1e-5, priced by the accountant"),
        ("non_private", {}, 0.976, 0.976, "the paper prints 97.60 %"),
    )
    rows = []
    for method, values, least, peer, note in asked:
        job = request("enadpp", method, "mnist", values)
        events = list(drive(job, data, lambda name, arrays: name))
        share = collect(job, events).mean("accuracy")
        what = f"{method} on MNIST, defaults" + "".join(f", {k} {v:g}" for k, v in values.items())
        target = f"at least {least:g}"
        rows.append(Row(what, share, peer, "accuracy", target, share >= least, note))
    return rows


def _peak(name: str) -> float:
    """Peak resident memory of a fresh process, in MB."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.enadpp", "--peak", name],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return float(done.stdout.split()[-1])


def _steps(name: str) -> None:
    """Three steps of one rival."""
    if name == "nothing":
        return
    x, y = table(784)
    images = x.view(-1, 1, 28, 28)
    made: dict[str, Callable[[], Steps]] = {
        "ours": lambda: private(mlp(*WIDE), x, y, LOT),
        "plain": lambda: plain(module(WIDE), x, y, LOT),
        "ghost": lambda: opacus(module(WIDE), x, y, LOT, "ghost"),
        "hooks": lambda: opacus(module(WIDE), x, y, LOT, "hooks"),
        "ours cnn": lambda: private(cnn(28, 10, (16, 32), 128), images, y, LOT),
        "plain cnn": lambda: plain(convolutional(), images, y, LOT),
        "ghost cnn": lambda: opacus(convolutional(), images, y, LOT, "ghost"),
        "hooks cnn": lambda: opacus(convolutional(), images, y, LOT, "hooks"),
    }
    made[name]()(3)


def rows() -> list[Row]:
    """Every figure; a few minutes on two cores."""
    torch.set_num_threads(2)
    return [*epochs(), *convolutions(), *replicas(), *memory(), *accuracies()]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        _steps(sys.argv[2])
        print(high_water())
    else:
        for row in rows():
            print(row, flush=True)
