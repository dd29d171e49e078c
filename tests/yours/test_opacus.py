"""Code that trains with Opacus: what it says of itself, and what an attack finds in it."""

import warnings
from types import SimpleNamespace

import numpy as np
import opacus
import pytest
import torch

from benchmarks.functions import COLUMNS, example, features
from engine.core.errors import RequestError
from engine.yours import library_run, writers
from engine.yours.function import audit_function

NOISE, STEPS, DELTA = 2.0, 4, 1e-5


def private(records, *, poisson=True, bare=False):
    """A linear model after STEPS steps with Opacus; with `bare` its bias gets no noise."""
    x, y = features(records)
    data = torch.utils.data.TensorDataset(x[:, :COLUMNS].float(), y.float())
    model = torch.nn.Linear(COLUMNS, 1)
    torch.nn.init.zeros_(model.weight)
    torch.nn.init.zeros_(model.bias)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    loader = torch.utils.data.DataLoader(data, batch_size=len(data), shuffle=not poisson)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Opacus, on its random numbers and hooks
        engine = opacus.PrivacyEngine()
        model, optimizer, loader = engine.make_private(
            module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=NOISE,
            max_grad_norm=1.0, poisson_sampling=poisson,
        )  # fmt: skip
        for _ in range(STEPS):
            for inputs, labels in loader:
                optimizer.zero_grad()
                loss = torch.nn.functional.binary_cross_entropy_with_logits(
                    model(inputs)[:, 0], labels
                )
                loss.backward()
                optimizer.step()
        told = writers.opacus_run(engine, optimizer, loader, DELTA)
    exact = float(y.sum()) if bare else 0.0
    weights = [part.detach().numpy().ravel() for part in model.parameters()]
    return told, {"weights": np.concatenate(weights), "labels": exact}


@pytest.mark.parametrize(("poisson", "sampling"), [(True, "poisson"), (False, "shuffled")])
def test_a_run_of_opacus_is_told_as_it_was_executed(poisson, sampling):
    torch.manual_seed(0)
    told, _ = private(example(), poisson=poisson)
    assert (told["sampling"], told["steps"], told["noise_multiplier"]) == (sampling, STEPS, NOISE)
    run = library_run.checked(
        {name: value for name, value in told.items() if name not in ("format", "version")}
    )
    assert run.epsilon() == pytest.approx(run.epsilon("all"), rel=0.01)  # a batch holds everyone
    assert library_run.card(run).epsilon_proved == pytest.approx(run.epsilon())


@pytest.mark.parametrize(
    "sampler",
    [
        lambda data: torch.utils.data.WeightedRandomSampler([1.0] * len(data), len(data)),
        lambda data: torch.utils.data.RandomSampler(data, replacement=True),
        lambda data: torch.utils.data.RandomSampler(data, num_samples=2 * len(data)),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_a_loader_that_may_give_a_record_twice_in_an_epoch_is_refused(sampler, whole):
    """Its steps are no shuffled ones, of which a record is in one in each epoch."""
    data = torch.utils.data.TensorDataset(torch.zeros(20, 1))
    drawn = sampler(data)
    batches = torch.utils.data.BatchSampler(drawn, 5, False) if whole else drawn
    told = {"batch_sampler": batches} if whole else {"sampler": drawn, "batch_size": 5}
    loader = torch.utils.data.DataLoader(data, **told)
    engine = SimpleNamespace(accountant=SimpleNamespace(history=[(1.0, 0.25, 4)]))
    with pytest.raises(RequestError, match="each record once in an epoch"):
        writers.opacus_run(engine, SimpleNamespace(max_grad_norm=1.0), loader, DELTA)


class Twice(torch.utils.data.BatchSampler):
    """Gives each batch twice."""

    def __iter__(self):
        for batch in super().__iter__():
            yield from (batch, batch)


def test_a_loader_with_batches_of_another_kind_is_refused():
    """Nothing is known of these, in whatever order they take the records."""
    data = torch.utils.data.TensorDataset(torch.zeros(20, 1))
    batches = Twice(torch.utils.data.SequentialSampler(data), 5, False)
    loader = torch.utils.data.DataLoader(data, batch_sampler=batches)
    engine = SimpleNamespace(accountant=SimpleNamespace(history=[(1.0, 0.25, 8)]))
    with pytest.raises(RequestError, match="got those of Twice"):
        writers.opacus_run(engine, SimpleNamespace(max_grad_norm=1.0), loader, DELTA)


@pytest.mark.parametrize("order", ["RandomSampler", "SequentialSampler"])
@pytest.mark.parametrize("whole", [True, False])
def test_a_loader_that_gives_each_record_once_in_an_epoch_is_told(order, whole):
    """Also where its batches were made beforehand: then the loader itself has no batch size."""
    data = torch.utils.data.TensorDataset(torch.zeros(20, 1))
    drawn = getattr(torch.utils.data, order)(data)
    batches = torch.utils.data.BatchSampler(drawn, 5, False)
    told = {"batch_sampler": batches} if whole else {"sampler": drawn, "batch_size": 5}
    loader = torch.utils.data.DataLoader(data, **told)
    engine = SimpleNamespace(
        accountant=SimpleNamespace(history=[(1.0, 0.25, 8)]), get_epsilon=lambda delta: 1.0
    )
    told = writers.opacus_run(engine, SimpleNamespace(max_grad_norm=1.0), loader, DELTA)
    assert [told[key] for key in ("sampling", "rate", "cycle", "steps")] == ["shuffled", 0.25, 4, 8]


@pytest.mark.slow
@pytest.mark.parametrize("bare", [False, True])
def test_training_with_opacus_is_attacked(bare):
    """With all noise the claim stands; with an exact sum of labels beside it, it is refuted."""

    def fit(records, rng):
        torch.manual_seed(int(rng.integers(2**62)))
        return private(records, bare=bare)[1]

    claim = f"mu={STEPS**0.5 / NOISE}"
    found = audit_function(fit, example(), claim, seconds=600.0, pairs=32)
    assert found.broken == bare
