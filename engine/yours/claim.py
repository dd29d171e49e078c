"""What somebody claims of a training function: ε and δ, or μ, and for which neighbours."""

import math
from dataclasses import dataclass
from typing import Any, get_args

from engine.core.errors import RequestError
from engine.privacy.guarantee import Relation

FIELDS = ("epsilon", "delta", "mu", "relation")
GRID = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
"""The ε at which a Gaussian trade-off curve is tested: each is a tangent of it."""


@dataclass(frozen=True)
class Claim:
    """What is claimed.

    Attributes:
        epsilon: The claimed ε, in nats; None where μ is claimed.
        delta: What is added to the bound that ε sets.
        mu: The claimed μ of Gaussian differential privacy; None where ε is claimed.
        relation: Which two data sets are neighbours. A function has no empty places: where one is
            left empty, it is attacked with a record in another's place, which is two steps away.

    Raises:
        RequestError: Neither or both of ε and μ, or a number out of range.
    """

    epsilon: float | None = None
    delta: float = 0.0
    mu: float | None = None
    relation: Relation = "add_or_remove_one"

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.mu is None):
            raise RequestError("claim: expected epsilon or mu, as in epsilon=1,delta=1e-5")
        for name, value in (("epsilon", self.epsilon), ("mu", self.mu)):
            if value is not None and not 0.0 < value < math.inf:
                raise RequestError(f"claim: expected {name} above 0, got {value!r}")
        if not 0.0 <= self.delta < 1.0 or (self.mu is not None and self.delta):
            raise RequestError(
                f"claim: expected delta from 0 to 1, and none with mu, got {self.delta!r}"
            )
        if self.relation not in (known := get_args(Relation)):
            names = ", ".join(known)
            raise RequestError(f"claim: expected a relation ({names}), got {self.relation!r}")

    @property
    def level(self) -> float:
        """The number that is claimed: ε, or μ."""
        level = self.mu if self.epsilon is None else self.epsilon
        assert level is not None  # one of the two is there
        return level

    @property
    def symbol(self) -> str:
        """How that number is written."""
        return "μ" if self.epsilon is None else "ε"

    def lines(self, level: float) -> list[tuple[float, float]]:
        r"""The pairs (ε', δ') with P(S) \le e^{ε'} Q(S) + δ' if `level` holds.

        An (ε, δ) claim is one such pair. A μ claim is one for every ε', with the δ(ε') of the
        Gaussian mechanism (Dong, Roth and Su 2022, Corollary 1). Two steps allow 2ε and
        δ (1 + e^ε) (Dwork and Roth 2014, Theorem 2.2), or 2μ (Dong et al., Theorem 2.14).
        """
        two = self.relation == "zero_out_one"
        if self.epsilon is not None:
            lost = self.delta * (1.0 + math.exp(min(level, 700.0)))
            return [(2.0 * level, min(1.0, lost)) if two else (level, self.delta)]
        return [(one, gaussian_delta(level * (2.0 if two else 1.0), one)) for one in GRID]


def read(text: str) -> Claim:
    """The claim of a text.

    >>> read("epsilon=1,delta=1e-5").delta
    1e-05

    Raises:
        RequestError: The text is malformed, or as `Claim`.
    """
    said: dict[str, Any] = {}
    for part in text.split(","):
        field, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or field not in FIELDS or field in said:
            raise RequestError(
                f"claim: expected fields of {', '.join(FIELDS)}, each once, as in "
                f"epsilon=1,delta=1e-5, got {part!r}"
            )
        try:
            said[field] = value if field == "relation" else float(value)
        except ValueError:
            raise RequestError(f"claim: expected a number for {field}, got {value!r}") from None
    return Claim(**said)


def gaussian_delta(mu: float, epsilon: float) -> float:
    """The δ at ε of a μ-Gaussian mechanism (Balle and Wang 2018, Theorem 8)."""
    from scipy.special import ndtr

    low, high = -epsilon / mu - mu / 2, -epsilon / mu + mu / 2
    return max(0.0, float(ndtr(high) - math.exp(epsilon) * ndtr(low)))
