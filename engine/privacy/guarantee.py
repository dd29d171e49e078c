"""The guarantee card as data: what is claimed, what is proved, and under what conditions."""

import dataclasses
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
    "rounded once; what its last bits reveal is not covered (Mironov 2012).",
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
        delta: Probability with which the bound may fail; 0 for pure privacy.
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

    @property
    def limits(self) -> tuple[str, ...]:
        """What no card covers, one sentence each; empty where nothing is promised."""
        return () if self.status == "not_private" else SECRET if self.secret else LIMITS

    def json(self) -> dict[str, Any]:
        """The card as JSON values."""
        return {**dataclasses.asdict(self), "limits": self.limits}


def not_private(
    mechanism: str, released: tuple[str, ...], reason: str, relation: Relation, unit: str
) -> Guarantee:
    """The card of a method without privacy, which is there for comparison."""
    return Guarantee(
        mechanism=mechanism,
        status="not_private",
        epsilon_claimed=None,
        epsilon_proved=None,
        delta=0.0,
        relation=relation,
        unit=unit,
        released=released,
        reasons=(reason,),
    )


def public_count(sets: str) -> str:
    """The sentence of a card whose proof takes the number of records as public.

    Args:
        sets: What the number determines, as in "it sets ...".
    """
    return (
        f"The number of records is public: it sets {sets}. A neighbouring table is the same table "
        "with one record left out of every sum."
    )
