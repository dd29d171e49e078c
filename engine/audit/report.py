"""What an audit says: claimed, proved and attacked, side by side."""

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from datasets.base import Table
from engine.audit import family, limits
from engine.audit.bounds import (
    epsilon_bound,
    epsilon_of_errors,
    error_bound,
    judged_at_zero,
    mean_bound_so_far,
    mu_of_errors,
    needed,
    reachable,
    right_guesses,
)
from engine.audit.runner import Collected, attack
from engine.audit.tally import LIKELIHOOD
from engine.audit.training import TOGETHER, Setting
from engine.audit.words import IF_AS_DECLARED, outcome, permitted
from engine.core.errors import RequestError
from engine.core.spec import Spec
from engine.method import Entry
from engine.privacy.guarantee import Guarantee, Relation
from engine.privacy.mechanisms import Gaussian

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
        exact: Whether `allowed` comes from the proof's trade-off curve, not from epsilon alone.
        reach: What the witness changes before noise, over the sensitivity; None if not recorded.
        epsilon_reachable: The most that the rates of so many trainings could show.
        assumed: Whether the proof rests on an assumption that the card states.
        by_curve: Whether `epsilon_attacked` was read from the trade-off curves of noise of the
            method's own kind, not from the two rates alone: it is a bound only if the noise is of
            the declared kind.
        judged: Trainings, with and without the witness together, that `right` was counted on.
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
    exact: bool = False
    judged: int = 0

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
        may = permitted(self.epsilon_proved is not None, self.allowed, self.exact, self.delta)
        said = f"{outcome(2 * self.replicas, self.right, self.judged)}; {may}."
        return f"{said} {IF_AS_DECLARED}" if self.by_curve else said


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

    Where a score's sign is the best guess there are two bounds: by the rates of a threshold that is
    chosen on half of the pairs, and by that guess's errors on all. They share the risk to be wrong.
    """
    releases = setting.declared
    mu, width = limits.gaussian_mu(releases), setting.witness.width(setting.spec, setting.pair)
    best = LIKELIHOOD if LIKELIHOOD in collected.scores else setting.witness.ratio
    ratio = collected.scores.get(best)
    confidence = CONFIDENCE if ratio is None else limits.BY_RATES
    judged = epsilon_bound(collected.scores, card.delta, confidence)
    mu_attacked, by_curve = None, False
    if ratio is not None:
        apart = _curve(card, setting, best)
        wrong = error_bound(ratio, limits.BY_CURVE, limits.unsure(apart))
        through, mu_attacked = _through(card, setting, apart, wrong)
        if through >= judged.epsilon:
            kept, by_curve = judged_at_zero(ratio), apart is not None
            judged = dataclasses.replace(kept, epsilon=through, statistic=best)
    may = limits.allowed(card, releases, width)
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
        allowed=None if may is None else may.share,
        exact=may is not None and may.exact,
        reach=None if math.isnan(collected.reach) else collected.reach,
        epsilon_reachable=reachable(collected.trainings, card.delta, CONFIDENCE),
        assumed=card.status == "proved_under_assumption",
        by_curve=by_curve,
        judged=2 * judged.trainings,
    )


def so_far(
    card: Guarantee, setting: Setting, collected: Collected, planned: int
) -> tuple[float, float] | None:
    """What trainings so far have shown of epsilon and mu, valid at every moment (0 for no mu).

    A person who looks on and stops when the bound crosses a claim is wrong with the stated risk.
    None where trainings are no pairs: rates of a threshold are judged once, when all are there.

    Args:
        card: The guarantee.
        setting: What is attacked.
        collected: Scores in the order of the trainings.
        planned: Trainings of each kind that were asked for.
    """
    best = LIKELIHOOD if LIKELIHOOD in collected.scores else setting.witness.ratio
    ratio = collected.scores.get(best)
    if ratio is None:
        return None
    apart = _curve(card, setting, best)
    right = right_guesses(ratio, limits.unsure(apart))
    wrong = 1.0 - mean_bound_so_far(right, 1.0 - limits.BY_CURVE, planned)
    epsilon, mu = _through(card, setting, apart, wrong)
    return epsilon, mu or 0.0


def _curve(card: Guarantee, setting: Setting, best: str) -> float | None:
    """The largest advantage that the noise allows, where the score is the releases' own ratio."""
    width = setting.witness.width(setting.spec, setting.pair)
    curve = family.advantage(setting.declared, card.relation, width)
    return curve if best == LIKELIHOOD else None


def _through(
    card: Guarantee, setting: Setting, apart: float | None, wrong: float
) -> tuple[float, float | None]:
    """The epsilon, and for Gaussian noise the mu, that so small a mean error needs."""
    if apart is None:
        return epsilon_of_errors(wrong, card.delta), None
    releases = setting.declared
    if limits.gaussian_mu(releases) is None:
        width = setting.witness.width(setting.spec, setting.pair)
        return family.epsilon(releases, card.relation, card.delta, wrong, width), None
    mu = mu_of_errors(wrong)
    return limits.epsilon_of_mu(mu, card.delta), mu


def perfect(card: Guarantee, setting: Setting, trainings: int) -> tuple[float | None, float] | None:
    """The mu and epsilon that a perfect attack with so many trainings shows in half of all cases.

    None where nothing is proved, or no curve is known of the noise; see `limits.perfect`.
    """
    if card.epsilon_proved is None:
        return None
    width = setting.witness.width(setting.spec, setting.pair)
    return limits.perfect(setting.declared, card.relation, card.delta, trainings, width)
