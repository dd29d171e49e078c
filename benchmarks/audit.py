"""How close attacks come to what is proved, how long they take, and how often they say too much."""

import math
import statistics
import time
from collections import deque
from typing import Any

import numpy as np
import torch

from benchmarks.row import TURNS, Row
from datasets import catalog
from engine.audit.bounds import Scores, epsilon_bound
from engine.audit.report import Audit, audit, perfect, summary
from engine.audit.runner import attack
from engine.audit.training import Setting
from engine.catalog import paper
from engine.method import Paper
from engine.papers.survival.spec import SurvivalSpec
from engine.papers.survival.witness import dimension
from engine.privacy.guarantee import Guarantee
from engine.privacy.mechanisms import GammaSphere, GaussianObjective
from engine.privacy.noise import draw

TRAININGS = 1_000
"""With the witness, and as many without."""
MU, PURE = 0.80, 0.75
"""Shares of the proved loss that an attack is to show: of mu, and of a pure epsilon up to 1."""
GAUSSIAN = (
    *(("mean", "gaussian", "flchain", budget) for budget in (1.0, 8.0)),
    *(
        ("survival", name, "flchain", budget)
        for name in ("dp_gd", "dp_newton", "cox_dp", "km_dp", "out_pert_gauss", "obj_pert_gauss")
        for budget in (1.0, 8.0)
    ),
    *(("pcdbn", "pcdbn", "digits", budget) for budget in (1.0, 8.0)),
)
SAMPLED = (("enadpp", "psgd", "digits", 4.0), ("lvq", "glvq_dp", "digits", 4.0))
"""Gaussian noise on batches by coins has no μ: its share is of ε, by its own trade-off curves."""
PURES = (
    ("mean", "laplace", "flchain", 1.0),
    ("survival", "out_pert", "flchain", 1.0),
    ("survival", "obj_pert", "flchain", 1.0),
)
TIMES = (
    ("survival", "out_pert", "flchain", 60.0),
    ("lvq", "glvq_dp", "digits", 60.0),
    ("enadpp", "psgd", "digits", 120.0),
    ("pcdbn", "pcdbn", "digits", 120.0),
)
AUDITS = 200
PERFECT = 25
"""Perfect attacks of which the median counts."""


def rows() -> list[Row]:
    """Every figure; about twenty minutes on two cores."""
    done = [_share(*asked, MU) for asked in (*GAUSSIAN, *SAMPLED)] + [
        _share(*asked, PURE) for asked in PURES
    ]
    return [*done, *(_seconds(*asked) for asked in TIMES), _above()]


def _spec(source: Paper[Any], budget: float | None) -> Any:
    """The setting that the paper's page opens with, at another budget if one is given."""
    values = {**source.opens()} | ({} if budget is None else {"epsilon": budget})
    return source.spec.parse(values)


def _share(slug: str, method: str, dataset: str, budget: float, least: float) -> Row:
    """The lower bound over what is proved, in mu or in epsilon; the best by the curve beside it.

    Median of three attacks with noise of their own: a bound from so few trainings varies.
    """
    source, data = paper(slug), catalog.load(dataset)
    setting = Setting.of(source.entry(method), _spec(source, budget), data)
    card = setting.entry.guarantee(setting.spec, len(data), data.card.record)
    attacks = [_attacked(setting, card, turn) for turn in range(TURNS)]
    by_rates = _by_rates(setting, card.delta)
    mu, epsilon = (
        (None, by_rates) if by_rates else perfect(card, setting, TRAININGS) or (None, None)
    )
    if attacks[0].mu_proved is not None and attacks[0].mu_attacked is not None:
        what, whole, peer = "μ", attacks[0].mu_proved, mu
        found = [one.mu_attacked or 0.0 for one in attacks]
    else:
        what, whole, peer = "ε", attacks[0].epsilon_proved or math.inf, epsilon
        found = [one.epsilon_attacked for one in attacks]
    shares = sorted(one / whole for one in found)
    share = statistics.median(shares)
    return Row(
        f"{slug} {method} on {dataset}, ε = {budget:g}: attacked over proved {what}",
        share,
        None if peer is None else peer / whole,
        "share",
        f"at least {least:g}",
        share >= least,
        f"{TRAININGS:,} trainings with the witness and as many without, 95 % confidence, "
        f"{shares[0]:.2f} to {shares[-1]:.2f} in {TURNS} attacks; the peer is the best bound by "
        "the noise's curve with as many, or by the rates of one threshold where no curve is known",
    )


def _attacked(setting: Setting, card: Guarantee, turn: int) -> Audit:
    """The audit by the trainings of one turn."""
    *_, collected = attack(setting, TRAININGS, first=turn * TRAININGS)
    return summary(card, setting, collected)


def _by_rates(setting: Setting, delta: float) -> float | None:
    r"""The bound by rates of a perfect attack on noise inside an objective, in half of all cases.

    No trade-off curve of it is known, or none that says much. The attack sees the linear term b
    itself, and the witness moves it by the whole sensitivity: a perfect guess goes by the ratio of
    its densities. None for other kinds of noise.
    """
    kind, spec = setting.declared[0].mechanism, setting.spec
    if not isinstance(kind, GaussianObjective | GammaSphere) or not kind.ratio:
        return None
    assert isinstance(spec, SurvivalSpec)  # no other paper puts noise there
    width, power = dimension(spec, setting.pair), 2 if isinstance(kind, GaussianObjective) else 1
    far, bounds = kind.sensitivity * torch.eye(width)[0].double(), []
    for seed in range(PERFECT):
        rng = torch.Generator().manual_seed(seed)
        noise = draw([kind] * TRAININGS, width, rng)
        worlds = (noise, noise + far)
        scores = [(b.norm(dim=1) ** power - (b - far).norm(dim=1) ** power) for b in worlds]
        bound = epsilon_bound({"score": Scores(*(one.numpy() for one in scores))}, delta)
        bounds.append(bound.epsilon)
    return float(np.median(bounds))


def _seconds(slug: str, method: str, dataset: str, most: float) -> Row:
    """How long an attack takes at the method's defaults."""
    source, data = paper(slug), catalog.load(dataset)
    began = time.perf_counter()
    deque(audit(source.entry(method), _spec(source, None), data, TRAININGS), maxlen=0)
    seconds = time.perf_counter() - began
    what = f"{slug} {method} on {dataset}: an attack of {TRAININGS:,} + {TRAININGS:,} trainings"
    return Row(what, seconds, None, "s", f"at most {most:g} s", seconds <= most, "defaults")


def _above() -> Row:
    """How often the bound is above the truth, for Laplace noise whose epsilon is 1."""
    rng = np.random.default_rng(0)
    above = sum(
        epsilon_bound(
            {"score": Scores(rng.laplace(0.0, 1.0, 400), rng.laplace(1.0, 1.0, 400))}, 0.0
        ).epsilon
        > 1.0
        for _ in range(AUDITS)
    )
    share = above / AUDITS
    what = f"Bounds above the truth, of {AUDITS} audits of a known mechanism"
    return Row(what, share, None, "share", "at most 0.05", share <= 0.05, "")
