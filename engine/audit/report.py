"""What an audit says: claimed, proved and attacked, side by side."""

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from datasets.base import Table
from engine.audit import family
from engine.audit.bounds import (
    epsilon_bound,
    error_bound,
    judged_at_zero,
    mu_bound,
    needed,
    reachable,
)
from engine.audit.runner import LIKELIHOOD, TOGETHER, Collected, Setting, attack
from engine.core.errors import RequestError
from engine.core.spec import Spec
from engine.method import Entry
from engine.privacy.guarantee import Guarantee, Relation
from engine.privacy.mechanisms import Gaussian
from engine.privacy.releases import Release

CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class Audit:
    """Three numbers on one axis, and where the third comes from.

    Attributes:
        epsilon_claimed: What the paper says; None where it says nothing.
        epsilon_proved: What is proved; None where nothing is.
        epsilon_attacked: What the attack shows to be lost at least, at `delta`.
        mu_proved: Of a Gaussian mechanism; None for others.
        mu_attacked: The same from below; None for others.
        delta: At which epsilon is claimed, proved and attacked.
        confidence: Probability with which `epsilon_attacked` is at most the true loss.
        relation: Which data sets are neighbours.
        unit: What one record is.
        witness: The record that the attack is about.
        statistic: The score that the attack guesses by.
        replicas: Trainings with the witness, and as many without.
        right: Share of right guesses among trainings that the test was not chosen on.
        allowed: The largest such share that the proof, or else the claim, allows; None for none.
        reach: What the witness changes before noise, over the sensitivity; None if not recorded.
        epsilon_reachable: The most that so many trainings could show.
        assumed: Whether the proof rests on an assumption that the card states.
        by_curve: Whether `epsilon_attacked` was read from the trade-off curves of noise of the
            method's own kind, not from the two rates alone.
    """

    epsilon_claimed: float | None
    epsilon_proved: float | None
    epsilon_attacked: float
    mu_proved: float | None
    mu_attacked: float | None
    delta: float
    confidence: float
    relation: Relation
    unit: str
    witness: str
    statistic: str
    replicas: int
    right: float
    allowed: float | None
    reach: float | None
    epsilon_reachable: float
    assumed: bool = False
    by_curve: bool = False

    @property
    def above_claim(self) -> bool:
        """Whether the attack shows more than the paper claims."""
        return self.epsilon_claimed is not None and self.epsilon_attacked > self.epsilon_claimed

    @property
    def above_proof(self) -> bool:
        """Whether the attack shows more than is proved: the program is wrong, or an assumption."""
        return self.epsilon_proved is not None and self.epsilon_attacked > self.epsilon_proved

    @property
    def broken(self) -> bool:
        """Whether the attack is above what is claimed or proved."""
        return self.above_claim or self.above_proof

    def json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            **dataclasses.asdict(self),
            "broken": self.broken,
            "above_claim": self.above_claim,
            "above_proof": self.above_proof,
        }

    @property
    def sentence(self) -> str:
        """What the attack found, in words."""
        outcome = (
            f"An attack with {2 * self.replicas:,} trainings was right {100 * self.right:.0f} "
            "times of 100"
        )
        if self.allowed is None:
            return f"{outcome}; nothing limits it."
        what = "claim" if self.epsilon_proved is None else "proof"
        return f"{outcome}; the {what} allows {math.ceil(100 * self.allowed - 1e-9)}."


def check(entry: Entry[Any], spec: Spec, n: int, replicas: int) -> Guarantee:
    """The card, if there is something to attack and enough to say something.

    Raises:
        RequestError: There is not.
    """
    card = entry.guarantee(spec, n, "record")
    if card.epsilon_claimed is None and card.epsilon_proved is None:
        raise RequestError(
            f"method: expected one with privacy, got {entry.name}: nothing to audit, no finite ε"
        )
    mechanisms = [release.mechanism for release in entry.releases(spec, n)]
    if card.delta == 0.0 and any(isinstance(m, Gaussian) for m in mechanisms):
        raise RequestError("delta: expected above 0 for Gaussian noise, got 0: its ε is infinite")
    if reachable(replicas, card.delta, CONFIDENCE) <= 0.0:
        raise RequestError(
            f"replicas: expected at least {needed(1e-9, card.delta, CONFIDENCE)}, the fewest that "
            f"can show anything at {100 * CONFIDENCE:.0f} % confidence, got {replicas}"
        )
    return card


def audit(
    entry: Entry[Any],
    spec: Spec,
    data: Table,
    replicas: int,
    device: str = "cpu",
    together: int = TOGETHER,
) -> Iterator[tuple[Audit, Collected]]:
    """Attacks a method; what is known after each chunk of trainings, the whole last.

    Args:
        entry: The method.
        spec: Its setting.
        data: The data set whose size and bounds the witness keeps to.
        replicas: Trainings with the witness, and as many without.
        device: Where they train.
        together: Trainings that run together at most.

    Raises:
        RequestError: There is nothing to audit, or too few replicas.
    """
    check(entry, spec, len(data), replicas)
    card = entry.guarantee(spec, len(data), data.card.record)
    setting = Setting.of(entry, spec, data, device)
    for attacked in attack(setting, replicas, together):
        if reachable(attacked.trainings, card.delta, CONFIDENCE) > 0.0:
            yield summary(card, setting, attacked), attacked


def summary(card: Guarantee, setting: Setting, collected: Collected) -> Audit:
    """The audit that scores amount to.

    Where the trade-off curve of the noise is known there are two bounds, one of them through it;
    each gets half of the chance to be wrong, so that the larger holds with the whole confidence.
    """
    releases = setting.entry.releases(setting.spec, len(setting.pair.without))
    mu, width = gaussian_mu(releases), setting.witness.width(setting.spec, setting.pair)
    ratio = collected.scores.get(LIKELIHOOD)
    split = ratio is not None and family.known(releases, card.relation, width)
    confidence = 0.5 * (1.0 + CONFIDENCE) if split else CONFIDENCE
    judged = epsilon_bound(collected.scores, card.delta, confidence)
    mu_attacked, by_curve = None, False
    if ratio is not None and split:
        if mu is None:
            wrong = error_bound(ratio, confidence)
            through = family.epsilon(releases, card.relation, card.delta, wrong, width)
        else:
            mu_attacked = mu_bound(ratio, confidence)
            through = epsilon_of_mu(mu_attacked, card.delta)
        by_curve = through >= judged.epsilon
        if by_curve:
            kept = judged_at_zero(ratio)
            judged = dataclasses.replace(kept, epsilon=through, statistic=LIKELIHOOD)
    return Audit(
        epsilon_claimed=card.epsilon_claimed,
        epsilon_proved=card.epsilon_proved,
        epsilon_attacked=judged.epsilon,
        mu_proved=mu,
        mu_attacked=mu_attacked,
        delta=card.delta,
        confidence=CONFIDENCE,
        relation=card.relation,
        unit=card.unit,
        witness=setting.witness.words,
        statistic=judged.statistic,
        replicas=collected.trainings,
        right=judged.right,
        allowed=allowed(card, mu),
        reach=None if math.isnan(collected.reach) else collected.reach,
        epsilon_reachable=reachable(collected.trainings, card.delta, CONFIDENCE),
        assumed=card.status == "proved_under_assumption",
        by_curve=by_curve,
    )


def gaussian_mu(releases: tuple[Release, ...]) -> float | None:
    r"""\mu of Gaussian releases of all records, \sqrt{\sum_i 1/s_i^2}; None for any others."""
    precision = 0.0
    for release in releases:
        if not isinstance(release.mechanism, Gaussian) or release.rate < 1.0:
            return None
        precision += release.met() / release.mechanism.multiplier**2
    return math.sqrt(precision) if releases else None


def epsilon_of_mu(mu: float, delta: float) -> float:
    """The epsilon at `delta` of a mu-Gaussian mechanism (Dong, Roth and Su 2022)."""
    from engine.privacy import gaussian

    return gaussian.epsilon(mu**2, delta) if mu > 0.0 else 0.0


def allowed(card: Guarantee, mu: float | None) -> float | None:
    """The largest share of right guesses that the proof, or else the claim, allows."""
    if mu is not None:
        return 0.5 * math.erfc(-mu / 2.0 / math.sqrt(2.0))
    bound = card.epsilon_claimed if card.epsilon_proved is None else card.epsilon_proved
    if bound is None:
        return None
    return (1.0 + card.delta * math.exp(-bound)) / (1.0 + math.exp(-bound))
