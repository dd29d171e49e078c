"""A guarantee card from what a run releases: a paper adds the words.

Status, proved ε, δ, accountant and sampling follow from the releases, by the same event that
`engine.method.Entry.cost` prices.
"""

from typing import Required, TypedDict, Unpack

from engine.privacy.guarantee import POISSON, Guarantee, Relation, Status
from engine.privacy.mechanisms import Exponential, Exposed, GammaSphere, Laplace
from engine.privacy.releases import Release, cost

PURE = (Laplace, GammaSphere, Exponential)
EXACT = "exact curve of composed Gaussian releases (Balle and Wang 2018)"
RENYI = "Rényi differential privacy of the sampled Gaussian"
SUM = "sum of the releases' ε"


class Words(TypedDict, total=False):
    """What a paper says on a card, as `Guarantee` has it; the rest follows from the releases.

    Without `released`, the releases say what they are; without `accountant` and `sampling`, how ε
    is computed as usual, and that records have coins of their own where they are sampled.
    """

    mechanism: Required[str]
    reasons: Required[tuple[str, ...]]
    released: tuple[str, ...]
    claim: str
    claimant: str
    accountant: str
    sampling: str
    failure: str


def promise(
    made: tuple[Release, ...], relation: Relation, unit: str,
    *, claimed: float | None, delta: float = 0.0, assumed: bool = False,
    spent: float | None = None, tight: bool = False, **words: Unpack[Words],
) -> Guarantee:  # fmt: skip
    """The card of what a run releases.

    Args:
        made: The releases of the whole run.
        relation: Which two data sets are neighbours.
        unit: Whom it protects.
        claimed: The budget that somebody claims to spend; None where nobody does.
        delta: Probability with which the bound may fail; pure noise has none whatever it is.
        assumed: Whether the proof rests on an assumption, which the reasons name.
        spent: ε by a closed form of the same composition; None to ask the accountant.
        tight: Whether to ask the exact accountant.
        words: What the paper says.
    """
    from engine.privacy import accounting  # takes a second to load

    exposed = any(isinstance(one.mechanism, Exposed) for one in made)
    pure = exposed or all(isinstance(one.mechanism, PURE) for one in made)
    coins = any(one.rate < 1.0 for one in made)
    status: Status = "proved_under_assumption" if assumed else "proved"
    if exposed:
        status = "not_private" if claimed is None else "heuristic"
    elif spent is None:
        spent = accounting.epsilon(cost(made), 0.0 if pure else delta, relation, tight=tight)
    usual: Words = {
        "mechanism": "",
        "reasons": (),
        "released": tuple(one.what for one in made),
        "accountant": "" if exposed else SUM if pure else RENYI if coins else EXACT,
        "sampling": POISSON if coins else "",
    }
    usual.update(words)
    return Guarantee(
        status=status,
        epsilon_claimed=claimed,
        epsilon_proved=None if exposed else spent,
        delta=0.0 if pure else delta,
        relation=relation,
        unit=unit,
        **usual,
    )
