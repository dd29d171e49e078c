r"""GLVQ and GMLVQ for R replicas: distances, gradients and their clipped sums.

A record x of class c touches two prototypes: w+, the nearest of class c, and w-, the nearest of
another class. With e± = x - w±, d± = \|\Omega e±\|² and S = (d+ + d-)², the gradients of
\mu = (d+ - d-)/(d+ + d-) are (Sato and Yamada 1995; Schneider et al. 2009)

    g_{w+} = -(4d-/S) \Lambda e+      g_{w-} = (4d+/S) \Lambda e-      \Lambda = \Omega^T\Omega
    g_\Omega = (4/S) (d- \Omega e+ e+^T - d+ \Omega e- e-^T)

No (records, d, d) array is made. Norms have closed forms in inner products, and a weighted sum
of outer products is one matrix product of the batch, plus corrections of the rank of W.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

TINY = 1e-12
"""Least distance: a record on its prototype has no direction, and divides nothing by zero."""


@dataclass(frozen=True, eq=False)
class Model:
    r"""The parameters of R replicas. Distances are \|APx - Aw\|².

    Attributes:
        w: Prototypes, shape (R, p, d).
        labels: Class of each prototype, shape (p,).
        omega: The trained matrix A, shape (R, d, d); None for GLVQ, where it is the identity.
        basis: Symmetric P that whitens the records, shape (R, d, d); None for the identity.
    """

    w: Tensor
    labels: Tensor
    omega: Tensor | None = None
    basis: Tensor | None = None


class Sample(NamedTuple):
    """Some records of each replica, padded to one length.

    Attributes:
        x: Features, shape (R, l, d).
        square: Squared norms of Px, shape (R, l).
        y: Classes, shape (R, l).
        present: 1 where there is a record and 0 where there is padding, shape (R, l).
    """

    x: Tensor
    square: Tensor
    y: Tensor
    present: Tensor


class Pairs(NamedTuple):
    """What each record touches, each of shape (R, l) unless said otherwise.

    Attributes:
        plus, minus: Positions of w+ and w-.
        near, far: d+ and d-.
        up, down: 4d-/S and 4d+/S.
        z: A P x, shape (R, l, d); zw: A w, shape (R, p, d).
    """

    plus: Tensor
    minus: Tensor
    near: Tensor
    far: Tensor
    up: Tensor
    down: Tensor
    z: Tensor
    zw: Tensor


class Norms(NamedTuple):
    """Norms of each record's gradient, shape (R, l); `omega` is None for GLVQ."""

    w: Tensor
    omega: Tensor | None


class Sums(NamedTuple):
    """Sums of weighted gradients: w (R, p, d) and omega (R, d, d) or None."""

    w: Tensor
    omega: Tensor | None


def right(a: Tensor, m: Tensor | None) -> Tensor:
    """Rows of `a` through `m`: a m^T; `a` itself when there is no `m`."""
    return a if m is None else a @ m.mT


def distances(z: Tensor, square: Tensor, zw: Tensor) -> Tensor:
    """Squared distances of rows z (R, l, d) with squared norms to rows zw (R, p, d)."""
    cross = torch.baddbmm(zw.square().sum(2)[:, None, :], z, zw.mT, alpha=-2.0)
    return (cross + square[..., None]).clamp_(min=TINY)


def pairs(model: Model, sample: Sample) -> Pairs:
    """The nearest right and wrong prototype of each record."""
    if model.omega is None:
        z, square, zw = sample.x, sample.square, model.w
    else:
        whole = model.omega if model.basis is None else model.omega @ model.basis
        z, zw = right(sample.x, whole), right(model.w, model.omega)
        square = z.square().sum(2)
    apart = distances(z, square, zw)
    own = model.labels == sample.y[..., None]
    near, plus = apart.masked_fill(~own, torch.inf).min(2)
    far, minus = apart.masked_fill(own, torch.inf).min(2)
    both = (near + far).square()
    return Pairs(plus, minus, near, far, 4 * far / both, 4 * near / both, z, zw)


def cost(nearest: Pairs, present: Tensor) -> Tensor:
    """Mean of mu over the records of each replica, shape (R,)."""
    mu = (nearest.near - nearest.far) / (nearest.near + nearest.far)
    return (mu * present).sum(1) / present.sum(1).clamp(min=1)


def norms(model: Model, sample: Sample, nearest: Pairs) -> Norms:
    r"""Norms of the prototype part and of the matrix part of each record's gradient.

    \|g_W\|² = up² \|\Lambda e+\|² + down² \|\Lambda e-\|²
    \|g_\Omega\|² = up² d+ \|e+\|² + down² d- \|e-\|² - 2 up down <\Omega e+, \Omega e-><e+, e->

    Guarantees:
        Never below the norm of what `sums` adds for that record: each inner product is replaced
        by the end of its rounding interval (`_inner`) that makes the norm larger. Without that, a
        record near two prototypes that nearly coincide would escape clipping in float32.
    """
    up, down = nearest.up, nearest.down
    if model.omega is None:
        plus, minus, _, _ = _bounds(nearest.z @ nearest.zw.mT, sample.square, nearest.zw, nearest)
        return Norms((up.square() * plus + down.square() * minus).sqrt(), None)
    z_plus, z_minus, z_mixed, z_lost = _inner(nearest.z, nearest.zw, nearest)
    plus, minus, _, _ = _inner(nearest.z @ model.omega, nearest.zw @ model.omega, nearest)
    size = up.square() * plus + down.square() * minus
    along = sample.x @ right(model.w, model.basis).mT
    x_plus, x_minus, x_mixed, x_lost = _bounds(along, sample.square, model.w, nearest)
    outer = up.square() * z_plus * x_plus + down.square() * z_minus * x_minus
    lost = z_lost * (x_plus * x_minus).sqrt() + x_lost * (z_plus * z_minus).sqrt()
    outer = outer - 2 * up * down * (z_mixed * x_mixed - lost)
    return Norms(size.sqrt(), outer.clamp(min=0).sqrt())


def _pick(table: Tensor, index: Tensor) -> Tensor:
    """Entry `index` of each record's row of `table` (R, l, p), shape (R, l)."""
    return table.gather(2, index[..., None])[..., 0]


def _inner(z: Tensor, w: Tensor, nearest: Pairs) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`_bounds` of rows z (R, l, d) and w (R, p, d)."""
    return _bounds(z @ w.mT, z.square().sum(2), w, nearest)


def _bounds(
    along: Tensor, square: Tensor, w: Tensor, nearest: Pairs
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Upper bounds of |e+|² and |e-|², and <e+, e-> with what it may be off, each (R, l).

    An inner product of length d, rounded to u, is off by at most d u times the norms (Higham
    2002, Section 3.1), so |x|² - 2<x, w> + |w|² by at most (d+4)u(|x| + |w|)², which is at most
    2(d+4)u(|x|² + |w|²). Twice that is added, for what was rounded before.

    Args:
        along: Inner products of records and w, shape (R, l, p).
        square: Squared norms of the records, shape (R, l).
        w: Points, shape (R, p, d).
        nearest: Which of them each record touches.
    """
    gram = w @ w.mT
    rows = torch.arange(len(w), device=w.device)[:, None]
    own = gram.diagonal(dim1=1, dim2=2)
    margin = 2.0 * (w.shape[2] + 4) * torch.finfo(w.dtype).eps
    to_plus, to_minus = _pick(along, nearest.plus), _pick(along, nearest.minus)
    at_plus, at_minus = own.gather(1, nearest.plus), own.gather(1, nearest.minus)
    off_plus, off_minus = margin * (square + at_plus), margin * (square + at_minus)
    mixed = square - to_plus - to_minus + gram[rows, nearest.plus, nearest.minus]
    first = (square - 2 * to_plus + at_plus).clamp(min=0.0) + off_plus
    second = (square - 2 * to_minus + at_minus).clamp(min=0.0) + off_minus
    return first, second, mixed, (off_plus + off_minus) / 2


def sums(
    model: Model,
    sample: Sample,
    nearest: Pairs,
    weight_w: Tensor,
    weight_omega: Tensor | None = None,
) -> Sums:
    """Sums over records of weighted gradients; weights (R, l) are 0 for padding.

    Args:
        model: The parameters.
        sample: The records.
        nearest: `pairs(model, sample)`.
        weight_w: Weight of each record's prototype part.
        weight_omega: Weight of its matrix part; None leaves the matrix part out.
    """
    pull = _spread(nearest, -weight_w * nearest.up, weight_w * nearest.down, model)
    moved = pull.mT @ nearest.z - pull.sum(1)[..., None] * nearest.zw
    w = moved if model.omega is None else moved @ model.omega
    if model.omega is None or weight_omega is None:
        return Sums(w, None)
    push = _spread(nearest, weight_omega * nearest.up, -weight_omega * nearest.down, model)
    weighted = nearest.z * push.sum(2)[..., None]
    # added up in place: for a small sample these passes over (d, d) would take half the time
    middle = (weighted.mT @ sample.x).baddbmm_(nearest.zw.mT, push.mT @ sample.x, alpha=-1.0)
    total = push.sum(1)[..., None] * nearest.zw - push.mT @ nearest.z
    whole: Tensor = right(middle, model.basis).baddbmm_(total.mT, model.w)
    return Sums(w, whole)


def _spread(nearest: Pairs, plus: Tensor, minus: Tensor, model: Model) -> Tensor:
    """Weights of w+ and w- as a table (R, l, p), zero elsewhere."""
    table = nearest.z.new_zeros(*plus.shape, model.w.shape[1])
    table.scatter_(2, nearest.plus[..., None], plus[..., None])
    return table.scatter_(2, nearest.minus[..., None], minus[..., None])


def factors(sizes: Norms, clip: Tensor, split: Tensor) -> tuple[Tensor, Tensor | None]:
    r"""What each record's gradient is multiplied by, shape (R, l) per block.

    Guarantees:
        Apart: the blocks keep norms of at most C sqrt(1-rho) and C sqrt(rho), together at most
        C. Together (rho = 0): the whole gradient keeps a norm of at most C. One record added or
        removed therefore changes the sums of both blocks, taken as one vector, by at most C in
        L2 norm (Abadi et al. 2016, Algorithm 1).

    Args:
        sizes: Norms of each record's gradient.
        clip: C of each replica, shape (R, 1).
        split: rho of each replica, shape (R, 1).
    """
    if sizes.omega is None:
        return (clip / sizes.w).clamp(max=1.0), None
    together = (clip / (sizes.w.square() + sizes.omega.square()).sqrt()).clamp(max=1.0)
    first = (clip * (1 - split).sqrt() / sizes.w).clamp(max=1.0)
    second = (clip * split.sqrt() / sizes.omega).clamp(max=1.0)
    apart = split > 0
    return torch.where(apart, first, together), torch.where(apart, second, together)
