"""Poisson sampling: each record by its own coin, as the accountant assumes."""

import torch
from torch import Generator, Tensor


def poisson(replicas: int, records: int, rate: float, rng: Generator) -> tuple[Tensor, Tensor]:
    """Draws an own lot for each replica: every record with probability `rate`.

    Lots differ in size; they are padded to the largest with absent records, and to
    one record where all are empty, so that an empty lot is a step of noise alone.

    Returns:
        Positions of records, shape (R, B), and whether each is present, shape (R, B)
        of the numbers 0 and 1.

    Guarantees:
        Replicas are separate experiments with independent lots, so each replica's
        guarantee is that of a run by itself.
    """
    chosen = torch.rand(replicas, records, generator=rng, device=rng.device) < rate
    counts = chosen.sum(1)
    width = max(1, int(counts.max()))
    row, record = chosen.nonzero(as_tuple=True)
    place = torch.arange(len(row), device=rng.device) - (counts.cumsum(0) - counts)[row]
    index = torch.zeros(replicas, width, dtype=torch.int64, device=rng.device)
    present = torch.zeros(replicas, width, device=rng.device)
    index[row, place], present[row, place] = record, 1.0
    return index, present
