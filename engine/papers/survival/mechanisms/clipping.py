r"""What clipping takes from the summed gradients, as far as a synthetic cohort tells.

At the true parameters gradients add up to zero in expectation, clipped ones do not: those that are
clipped are of few persons, most of whom stay long although their covariates say otherwise. The
cohort, its hazards at the estimate and the bound are known, and so is what is lost on average.
"""

import torch
from torch import Tensor

from engine.papers.survival.mechanisms.cohort import ENTRIES, Bend, Cohort, followed


def lost(cohort: Cohort, A: Tensor, f: Tensor, bend: Bend, at: tuple[Tensor, Tensor]) -> Tensor:
    r"""The expected sum of W\nabla\ell_i (1 - min(1, C/\|W\nabla\ell_i\|)), shape (R, d).

    Args:
        cohort: Persons that are like the records.
        A: The baseline's design, shape (q, e); its first column is 1.
        f: Parameters, shape (R, d).
        bend: Hazards and what they count, as `cohort.logit`.
        at: W, symmetric, shape (R, d, d), and C, shape (R,).
    """
    root, clip = at
    at_once = max(1, ENTRIES // (cohort.x.shape[1] * len(A) * f.shape[1]))
    parts = [
        _lost(cohort.part(k), A, f[k], bend, (root[k], clip[k]))
        for k in (slice(i, i + at_once) for i in range(0, len(f), at_once))
    ]
    return torch.cat(parts)


def _lost(cohort: Cohort, A: Tensor, f: Tensor, bend: Bend, at: tuple[Tensor, Tensor]) -> Tensor:
    """The same of few replicas.

    The slope of an interval's loss in its predictor is u without the event and -v with it. It has
    mean zero, (1 - h) u = h v, and variance w = u v, what the interval counts in the curvature.
    """
    h, weight, risk, scale = followed(cohort, A, f, bend)
    u = (h * weight / (1.0 - h).clamp_min(1e-12)).sqrt()
    v = weight / u.clamp_min(1e-300)
    root, (e, gone) = at[0], (A.shape[1], 1.0 - cohort.stay)
    gone[:, -1] = 1.0  # the end of the study
    upto = (u[:, :, :, None] * A).cumsum(2)
    total = torch.zeros_like(f)
    for chance, slope in (
        (risk * (1.0 - h) * gone[:, None], upto),
        (risk * h, upto - (u + v)[:, :, :, None] * A),
    ):
        own = (cohort.x @ root[:, e:])[:, :, None]
        white = slope @ root[:, None, :e] + slope[:, :, :, :1] * own
        kept = (at[1][:, None, None] / white.norm(dim=3).clamp_min(1e-300)).clamp(max=1.0)
        total += torch.einsum("rmt,rmtd->rd", chance * (1.0 - kept), white)
    return scale[:, None] * total
