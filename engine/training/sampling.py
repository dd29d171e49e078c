"""Poisson sampling, each record by its own coin, and batches that are cut from a random order.

How many records come is a number that the processor needs. On a graphics card it would wait for
it in every step, so the coins for a card are drawn on the processor (`aside`).
"""

import hashlib
import math

import torch
from torch import Generator, Tensor

from engine.privacy.secret import Secret, uniform
from engine.training.unseeded import unseeded

GRID = 2.0**24
"""Numbers that `torch.rand` draws from in [0, 1), evenly spaced."""


def coins(shape: tuple[int, ...], rate: float, rng: Generator) -> Tensor:
    """Independent coins that are true with probability `rate`, rounded down to the grid.

    Rounded up, a small rate would be higher than the one that is priced: by 1.3 % at 1e-6.
    """
    below = math.floor(rate * GRID) / GRID
    if isinstance(rng, Secret):
        return uniform(shape, rng) < below
    return torch.rand(shape, generator=rng, device=rng.device) < below


def poisson(replicas: int, records: int, rate: float, rng: Generator) -> tuple[Tensor, Tensor]:
    """Draws a batch of its own for each replica: every record with probability `rate`.

    Batches differ in size; they are padded to the largest with absent records, and to
    one record where all are empty, so that an empty batch is a step of noise alone.

    Returns:
        Positions of records, shape (R, B), and whether each is present, shape (R, B)
        of the numbers 0 and 1.

    Guarantees:
        Replicas are separate experiments with independent batches, so each replica's
        guarantee is that of a run by itself.
    """
    if apart(rng):
        place, there = by_gaps(records, torch.full((replicas,), records), rate, rng)
        return place, there.float()
    chosen = coins((replicas, records), rate, rng)
    counts = chosen.sum(1)
    width = max(1, int(counts.max()))
    row, record = chosen.nonzero(as_tuple=True)
    place = torch.arange(len(row), device=rng.device) - (counts.cumsum(0) - counts)[row]
    index = torch.zeros(replicas, width, dtype=torch.int64, device=rng.device)
    present = torch.zeros(replicas, width, device=rng.device)
    index[row, place], present[row, place] = record, 1.0
    return index, present


def packed(index: Tensor, kept: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """The batches that some places are taken out of, as narrow as they can be.

    Args:
        index: Positions, shape (R, B) or (R, B, 2).
        kept: Which of them stay, shape (R, B).
        dtype: Of presence.

    Returns:
        Positions and presence, as `poisson`, in the order that they had.
    """
    width = max(1, int(kept.sum(1).max()))
    place = torch.argsort(kept.byte(), dim=1, descending=True, stable=True)[:, :width]
    wide = place.view(*place.shape, *[1] * (index.dim() - 2)).expand(-1, -1, *index.shape[2:])
    return index.gather(1, wide), kept.gather(1, place).to(dtype)


@unseeded
def places(n: int, sizes: Tensor, rate: float, rng: Generator) -> Tensor:
    """The places of sampled records in rising order, shape (R, B); behind `sizes`, padding.

    The distance from one success of independent trials to the next is geometric (Devroye 1986,
    Section X.2), so only the records that are chosen cost a draw.

    Args:
        n: The largest of the sizes.
        sizes: Records of each replica, shape (R,), where `rng` draws.
        rate: Probability of each record.
        rng: Source of randomness.
    """
    if rate >= 1.0:
        return torch.arange(n, device=rng.device).expand(len(sizes), n)
    width = int(n * rate + 6 * math.sqrt(n * rate)) + 8
    last = sizes.new_full((len(sizes), 1), -1)
    parts: list[Tensor] = []
    while not parts or bool((last < sizes[:, None]).any()):
        gaps = torch.empty(len(sizes), width, dtype=torch.float64, device=rng.device)
        gaps.geometric_(rate, generator=rng)
        parts.append(last + gaps.clamp_(max=n + 1).long().cumsum_(1))
        last = parts[-1][:, -1:]
    place = torch.cat(parts, 1)
    counts = (place < sizes[:, None]).sum(1)
    return place[:, : max(1, int(counts.max()))]


def by_gaps(n: int, sizes: Tensor, rate: float, rng: Generator) -> tuple[Tensor, Tensor]:
    """`places` on the generator's device, with 0 for padding, and which are places, as bools.

    Args:
        n: As in `places`.
        sizes: As in `places`, on the processor.
        rate: As in `places`.
        rng: Source of randomness.
    """
    own = aside(rng)
    sizes = sizes.to(own.device)
    place = places(n, sizes, rate, own)
    there = place < sizes[:, None]
    return sent(place.masked_fill(~there, 0), rng.device), sent(there, rng.device)


def apart(rng: Generator) -> bool:
    """Whether what is drawn is on another device than the processor, which must wait to see it."""
    return rng.device.type != "cpu"


def aside(rng: Generator) -> Generator:
    """A generator of the processor: `rng` itself, or for a card's one that follows from its state.

    The processor knows the state of a card's generator without asking the card. One draw on the
    card moves it on, so that the next answer is another.
    """
    if not apart(rng):
        return rng
    code = hashlib.sha256(rng.get_state().numpy().tobytes()).digest()
    torch.rand(1, generator=rng, device=rng.device)
    return torch.Generator().manual_seed(int.from_bytes(code[:7], "big"))


def sent(part: Tensor, device: torch.device) -> Tensor:
    """A tensor of the processor on a device; nobody waits until it has arrived."""
    held = part.pin_memory() if device.type == "cuda" else part
    return held.to(device, non_blocking=True)


def pairs(replicas: int, records: int, rate: float, rng: Generator) -> tuple[Tensor, Tensor]:
    """Draws disjoint pairs for each replica: a fresh matching of all records, then coins.

    The records' places 1 to N are shuffled and matched two by two, which looks at no
    record; each pair then takes part by its own coin of probability `rate`. Of an odd
    number one place is left out.

    Returns:
        Positions, shape (R, B, 2), and whether each pair is present, shape (R, B).

    Guarantees:
        The unit is one record, as without pairs; absent records keep their place and
        their pairs add nothing (Kairouz et al. 2021, zero-out neighbours: adding or
        removing one record, its place being public). Given the matching, a record is
        in at most one pair, so removing it removes at most one term of norm C from the
        sum, not two, and only if that pair's coin fell so: sensitivity C at sampling
        rate `rate`. The matching is independent of the records, and divergences are
        convex in such a mixture, so the price of a Poisson batch of single records at
        the same rate and the same C holds. (Were the matching drawn among the present
        records alone, removing one would also break up another pair, and the bound
        would be 2C.)
    """
    if records < 2:
        empty = torch.zeros(replicas, 1, 2, dtype=torch.int64, device=rng.device)
        return empty, torch.zeros(replicas, 1, device=rng.device)
    matched = matchings(orders(replicas, records, rng))
    index, present = poisson(replicas, matched.shape[1], rate, rng)
    return matched.gather(1, index[..., None].expand(-1, -1, 2)), present


def matchings(order: Tensor) -> Tensor:
    """Neighbours in an order (R, N) as pairs, shape (R, N // 2, 2)."""
    return order[:, : order.shape[1] // 2 * 2].view(len(order), -1, 2)


def orders(replicas: int, records: int, rng: Generator) -> Tensor:
    """A random order of all records for each replica, shape (R, N)."""
    return torch.rand(replicas, records, generator=rng, device=rng.device).argsort(1)


def part(order: Tensor, number: int, parts: int) -> tuple[Tensor, Tensor]:
    """Batch `number` of the `parts` that an order is cut into.

    Args:
        order: Positions, shape (R, N), or of pairs, (R, N, 2).
        number: From 0.
        parts: Batches of an epoch; their sizes differ by one at most.

    Returns:
        Positions, shape (R, B) or (R, B, 2), and whether each is present, shape (R, B) of ones;
        where there are more batches than records, one absent record.

    Guarantees:
        The batches of an order are disjoint and together hold every record once, so a record
        moves one sum in an epoch (`engine.privacy.releases.Release.met`).
    """
    index = order[:, number::parts]
    if index.shape[1]:
        return index, torch.ones(index.shape[:2], device=order.device)
    return order[:, :1], torch.zeros(len(order), 1, device=order.device)
