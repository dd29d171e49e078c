"""The guarantee card as data: what is claimed, what is proved, and under what conditions."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Literal

Relation = Literal["replace_one", "add_or_remove_one", "zero_out_one"]
"""Which data sets are neighbours.

The third is for proofs that take the number of records n as public (it sets batch sizes, noise or
folds): a record is left out of every sum and its place stays, so that both data sets have n
(Kairouz et al. 2021, zero-out). Sums differ by one record's term, as if it had been removed, so
accountants price it as adding or removing one.
"""
Status = Literal["proved", "proved_under_assumption", "heuristic", "not_private"]

RELATIONS: dict[Relation, str] = {
    "replace_one": "one record replaced by another",
    "add_or_remove_one": "one record added or removed",
    "zero_out_one": "one record left out of every sum, the number of records public",
}
STATUSES: dict[Status, str] = {
    "proved": "Proved",
    "proved_under_assumption": "Proved under an assumption",
    "heuristic": "Heuristic",
    "not_private": "Not private",
}


LIMITS = (
    "Real arithmetic is assumed. Noise is drawn and added in double precision and the sum is "
    "rounded once. What its last bits reveal is not covered (Mironov 2012), nor is how much "
    "further rounding lets a record move a sum (Casacuberta et al. 2022).",
    "The seed of the noise is public, so that anyone can rerun a number. The guarantee holds for "
    "the same mechanism with secret noise; a publication needs new, secret noise.",
    "The ε is for one setting and one repetition, published alone. Several of them add up, and so "
    "does choosing the best.",
)
"""What holds for every card, whatever the method."""
SECRET = (
    LIMITS[0],
    "The noise and the coins of sampling come from the operating system's generator, and no seed "
    "or state is kept, so nobody can draw them again. How long the run took and whether it ended "
    "are not covered.",
    "This is the price of this release alone: every further release from the same records, and "
    "every look at their measures before it, adds to it.",
)
"""The same for a release with secret noise."""
WHOLE = (
    "Noise is drawn and added in whole-number arithmetic, so no rounding is left out of the proof "
    "(Canonne, Kamath and Steinke 2020).",
    *SECRET[1:],
)
"""The same for a release whose noise is drawn on whole numbers."""
POISSON = "Poisson: each record is in a step with probability q, independently of the others"
"""The sampling that the accountants' amplification assumes."""


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """What stands behind a number.

    Attributes:
        mechanism: What adds the noise, in words.
        status: How far the argument carries.
        epsilon_claimed: What the paper says it spends; None when it claims nothing.
        epsilon_proved: What can be proved; None when nothing can.
        delta: The additive term of (ε, δ)-privacy; 0 for pure privacy.
        failure: What is to be said of that probability where `delta` is not all of it.
        relation: Which two data sets are neighbours.
        unit: Whom it protects: what one record is.
        accountant: How `epsilon_proved` was computed.
        sampling: What is assumed of the sampling of records; empty if nothing is.
        released: What leaves the mechanism.
        reasons: Why the status is what it is, one sentence each.
        claim: The theorem behind the claim, in one line.
        claimant: Who claims `epsilon_claimed`, and of what, as a heading.
        secret: Whether the noise is drawn from secret randomness, as for a release.
        exact: Whether it is drawn on whole numbers, without rounding, as for a release too.
    """

    mechanism: str
    status: Status
    epsilon_claimed: float | None
    epsilon_proved: float | None
    delta: float
    relation: Relation
    unit: str
    accountant: str = ""
    sampling: str = ""
    released: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    claim: str = ""
    claimant: str = "The paper claims"
    failure: str = ""
    secret: bool = False
    exact: bool = False

    @property
    def limits(self) -> tuple[str, ...]:
        """What no card covers, one sentence each; empty where nothing is promised."""
        if self.status == "not_private":
            return ()
        return WHOLE if self.exact else SECRET if self.secret else LIMITS

    def json(self) -> dict[str, Any]:
        """The card as JSON values."""
        return {**dataclasses.asdict(self), "limits": self.limits}


def for_persons(card: Guarantee, rows: int) -> Guarantee:
    """The card of persons with at most so many rows each, from the card of one row.

    Guarantees:
        From a data set, one without a person's m rows is m steps away that each change one row, so
        (ε, δ) for a row gives mε and δ (1 + exp(ε) + ... + exp((m - 1)ε)) for a person (Dwork and
        Roth 2014, Theorem 2.2; Vadhan 2017, Lemma 2.2). Where that sum is 1 or more, nothing is
        proved.
    """
    if rows == 1 or card.status == "not_private":
        return card
    reason = (
        f"A person has at most {rows} rows, so the ε of a row counts {rows} times for a person."
    )
    if card.epsilon_proved is None:
        return dataclasses.replace(card, reasons=(*card.reasons, reason))
    row, lost = card.epsilon_proved, 0.0
    for i in range(rows if card.delta else 0):
        lost += card.delta * math.exp(min(i * row, 700.0))
    if lost >= 1.0:
        none = f"With {rows} rows of a person δ adds up to 1, so nothing is proved about a person."
        return dataclasses.replace(
            card, status="heuristic", epsilon_proved=None, reasons=(*card.reasons, none)
        )
    return dataclasses.replace(
        card, epsilon_proved=rows * row, delta=lost, reasons=(*card.reasons, reason)
    )


def assuming(card: Guarantee, sentence: str) -> Guarantee:
    """The card of a proof that holds only if a sentence is accepted, which it says first."""
    if card.status == "not_private":
        return card
    status: Status = "proved_under_assumption" if card.status == "proved" else card.status
    return dataclasses.replace(card, status=status, reasons=(sentence, *card.reasons))
