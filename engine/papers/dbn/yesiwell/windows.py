r"""From a panel to windows: what a network sees of one user at one time, and the friends' term.

A window V holds the d attributes at the last N times, as shares of their public ranges, less
what is usual: 1/2, or 0 for counts. Its label is that of the next time (prediction) or of its
last time (classification). Each repetition trains on another stretch of the panel.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from datasets.base import Booleans, Floats, Integers, PanelTable, Table
from datasets.social import COUNTED
from engine.core.errors import RequestError
from engine.papers.dbn.yesiwell.described import GOLDEN, HELD_OUT, TEST
from engine.papers.dbn.yesiwell.spec import YesiwellSpec

THIRDS = 3


@dataclass(frozen=True, eq=False)
class Part:
    r"""Windows, user by user and in the order of time.

    Attributes:
        v: Attributes, centred, shape (m, d, N).
        social: Mean of 2\psi - 1 over the user's friends, shape (m,).
        capped: The same summed and divided by D, the public bound, shape (m,), double precision.
        y: Labels 0 or 1, shape (m,).
        user: Whose window, shape (m,).
        best: What the best predictor says, shape (m,): a probability; NaN where nobody knows.
    """

    v: Tensor
    social: Tensor
    capped: Tensor
    y: Tensor
    user: Tensor
    best: Tensor

    def take(self, rows: Tensor) -> "Part":
        """Some of the windows."""
        parts = (self.v, self.social, self.capped, self.y, self.user, self.best)
        return Part(*(part[rows] for part in parts))

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True, eq=False)
class Sample:
    """What one repetition trains and is tested on.

    Attributes:
        whole: Training windows in full, W for each of n users.
        kept: Which of them are trained on, shape (n W,); the others are held out.
        train: Those that are trained on.
        places: How many they are where nobody is left out; public, as the number of users is.
        test: Windows to test on.
        users: Number of users n.
        friends: Number of friends of each user, shape (n,).
        times: Points in time that `test` has of each user where the task is prediction; else 0.
    """

    whole: Part
    kept: Tensor
    train: Part
    places: int
    test: Part
    users: int
    friends: Tensor
    times: int


def panel(table: Table, spec: YesiwellSpec) -> PanelTable:
    """The panel, drawn with the persistence and influence of a spec where it is simulated.

    Raises:
        RequestError: It is no panel.
    """
    if not isinstance(table, PanelTable):
        raise RequestError(f"dataset: expected a panel with friendships, got {table.card.name}")
    return _redrawn(table, spec.persistence, spec.influence)


def check_friends(table: Table, spec: YesiwellSpec) -> None:
    """Holds a panel to the public bound on friends, from which noise is computed.

    Raises:
        RequestError: It is no panel, or a user has more friends than the bound.
    """
    most = int(np.bincount(panel(table, spec).friends.ravel()).max(initial=0))
    if most > spec.most_friends:
        raise RequestError(
            f"most_friends: expected a bound of at least {most}, the friends that one user has, "
            f"got {spec.most_friends}"
        )


@lru_cache(maxsize=4)
def _redrawn(table: PanelTable, persistence: float, influence: float) -> PanelTable:
    if table.again is None or (persistence, influence) == table.drawn:
        return table
    return table.again(persistence, influence)


def sample(table: Table, spec: YesiwellSpec, seed: int, device: str) -> Sample:
    """The windows of one repetition.

    Raises:
        RequestError: See `panel`; or more times are asked for than there are.
    """
    whole = panel(table, spec)
    size = (spec.history, spec.window, spec.most_friends)
    return _sample(whole, size, spec.task == "prediction", seed, device)


@lru_cache(maxsize=12)
def _sample(
    table: PanelTable, size: tuple[int, int, int], ahead: bool, seed: int, device: str
) -> Sample:
    history, window, most = size
    n, times = table.y.shape
    first, last = _stretch(times, history, seed, ahead)
    ends = np.arange(first + window - 1, last)
    x, shares = _scaled(table), _influence(table, most)
    whole = _part(table, x, shares, ends, window, ahead, device)
    friends = np.bincount(table.friends.ravel(), minlength=n)
    count = torch.from_numpy(friends).to(device)
    counted = ~np.isin(np.repeat(np.arange(n), len(ends)), table.left_out)
    if ahead:
        after = np.arange(last, min(last + TEST, times - 1))
        test = _part(table, x, shares, after, window, ahead, device)
        return Sample(whole, *_trained(whole, counted), len(whole), test, n, count, len(after))
    drawn = np.random.default_rng(seed).random(len(whole)) >= HELD_OUT
    test = whole.take(torch.from_numpy(~drawn).to(device))
    places = int(drawn.sum())
    return Sample(whole, *_trained(whole, drawn & counted), places, test, n, count, 0)


def _trained(whole: Part, kept: Booleans) -> tuple[Tensor, Part]:
    """Which windows are trained on, and those: once, so that no step asks a card for them."""
    rows = torch.from_numpy(kept).to(whole.y.device)
    return rows, whole if kept.all() else whole.take(rows)


def _stretch(times: int, history: int, seed: int, ahead: bool) -> tuple[int, int]:
    """The first time that is trained on, and the first that is not.

    Raises:
        RequestError: There are not so many times.
    """
    spare = min(TEST, max(1, (times - history - 1) // 2)) + 1 if ahead else 0
    room = times - history - spare
    if room < 0:
        raise RequestError(
            f"history: expected at most {times - 2 if ahead else times} of the {times} times of "
            f"this data set, got {history}"
        )
    first = int((0.5 + seed * GOLDEN) % 1.0 * (room + 1))
    return first, first + history


def _part(
    table: PanelTable,
    x: Tensor,
    shares: tuple[Floats, Floats],
    ends: Integers,
    window: int,
    ahead: bool,
    device: str,
) -> Part:
    """The windows of all users that end at some times."""
    v = torch.stack([x[:, end - window + 1 : end + 1] for end in ends], 1)
    target = ends + int(ahead)
    if table.chance is None:
        best = np.full((len(x), len(ends)), np.nan)
    else:  # at its own time a label follows from the exercising days
        best = table.chance[:, target] if ahead else table.y[:, target].astype(np.float64)
    user = np.repeat(np.arange(len(x)), len(ends))
    columns = (shares[0][:, ends], shares[1][:, ends], table.y[:, target])
    social, capped, y = (torch.from_numpy(part.reshape(-1)).to(device) for part in columns)
    return Part(
        v.flatten(0, 1).mT.contiguous().to(device),
        social.float(),
        capped,
        y,
        torch.from_numpy(user).to(device),
        torch.from_numpy(best.reshape(-1)).to(device),
    )


@lru_cache(maxsize=2)
def _scaled(table: PanelTable) -> Tensor:
    """Attributes as shares of their ranges less what is usual, shape (n, T, d)."""
    low, high = (np.asarray(bound, np.float32) for bound in table.bounds)
    usual = np.full(table.x.shape[2], 0.5, np.float32)
    usual[list(COUNTED)] = 0.0
    return torch.from_numpy((table.x - low) / (high - low) - usual)


@lru_cache(maxsize=2)
def _influence(table: PanelTable, most: int) -> tuple[Floats, Floats]:
    r"""The friends' term of each user and time: mean, and sum over D, of 2\psi - 1, (n, T).

    \psi_t(v, u) estimates how probable it is that u exercises more after v has done as v does at
    t: the share of earlier times at which u did, smoothed by one case of each kind. It uses u's
    labels before t alone. The paper takes \psi from another model (TaCPP), which is not public.
    Persons who are left out add nothing to others' terms.
    """
    y = table.y.astype(np.float32)
    ends = table.friends
    source = np.concatenate([ends[:, 0], ends[:, 1]])
    target = np.concatenate([ends[:, 1], ends[:, 0]])
    counted = ~np.isin(source, table.left_out)
    source, target = source[counted], target[counted]
    did, followed = y[source, :-2], y[target, 1:-1]
    total = np.zeros((len(y), y.shape[1]))
    psi = np.full((len(source), y.shape[1]), 0.5, np.float32)
    for kind in (0.0, 1.0):
        same = did == kind
        seen = np.cumsum(same, axis=1, dtype=np.float32)
        hits = np.cumsum(same * followed, axis=1, dtype=np.float32)
        psi[:, 2:] = np.where(y[source, 2:] == kind, (hits + 1.0) / (seen + 2.0), psi[:, 2:])
    for t in range(y.shape[1]):
        total[:, t] = np.bincount(target, 2.0 * psi[:, t] - 1.0, len(y))
    count = np.bincount(target, minlength=len(y)).clip(1)
    return total / count[:, None], total / most
