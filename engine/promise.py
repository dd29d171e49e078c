"""A guarantee card from what a run releases: a paper adds the words.

Status, proved ε, δ, accountant and sampling follow from the releases, by the same event that
`engine.method.Entry.cost` prices. The words stand in the paper's file (`engine.core.declared`).
"""

import re
from collections.abc import Mapping
from typing import Any, Required, TypedDict, Unpack, cast

from engine.core import declared
from engine.privacy.guarantee import POISSON, Guarantee, Relation, Status
from engine.privacy.mechanisms import Exponential, Exposed, GammaSphere, Laplace
from engine.privacy.releases import Release, cost

PURE = (Laplace, GammaSphere, Exponential)
EXACT = "exact curve of composed Gaussian releases (Balle and Wang 2018)"
CONCENTRATED = "zero-concentrated privacy of discrete Gaussian noise (Canonne et al. 2020)"
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


FIELD = re.compile(r"\{(\w+)\}")
"""A sentence that is one fact alone."""


def words(package: str, name: str, **facts: object) -> Words:
    """The words of the table `[cards.NAME]` in a package's `paper.toml`, with facts in braces.

    Where a sentence is one fact alone, such as "{why}", the fact is a text, or it names sentences
    of the tables `[sentences]`: as many as there are, or none. These are facts too. Tables of
    the packages around serve as well.

    Raises:
        KeyError: No table, sentence or fact of that name.
    """
    known = _Facts(_around(package, "sentences"), facts)
    table = declared.values(_around(package, "cards"), name)
    return cast(Words, {
        key: " ".join(known.told(value)) if isinstance(value, str)
        else tuple(one for sentence in value for one in known.told(sentence))
        for key, value in table.items()
    })  # fmt: skip


class _Facts:
    """Facts by name, and sentences with facts in their braces."""

    def __init__(self, said: Mapping[str, Any], facts: Mapping[str, object]) -> None:
        self.said, self.facts = said, facts

    def __getitem__(self, name: str) -> object:
        fact = self.facts.get(name, (name,))
        return " ".join(self._sentences(fact)) if isinstance(fact, tuple) else fact

    def told(self, text: str) -> tuple[str, ...]:
        """A text with its facts; where it is one fact alone, the sentences that this names."""
        alone = FIELD.fullmatch(text)
        fact = self.facts.get(alone[1], (alone[1],)) if alone else None
        return self._sentences(fact) if isinstance(fact, tuple) else (text.format_map(self),)

    def _sentences(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(str(self.said[name]).format_map(self) for name in names)


def _around(package: str, kind: str) -> dict[str, declared.Table]:
    """The tables of one kind of a package and of those around it."""
    found: dict[str, declared.Table] = {}
    parts = package.split(".")
    for depth in range(1, len(parts) + 1):
        found |= declared.kind(".".join(parts[:depth]), kind)
    return found


def promise(
    made: tuple[Release, ...], relation: Relation, unit: str,
    *, claimed: float | None, delta: float = 0.0, assumed: bool = False,
    spent: float | None = None, **said: Unpack[Words],
) -> Guarantee:  # fmt: skip
    """The card of what a run releases.

    Args:
        made: The releases of the whole run.
        relation: Which two data sets are neighbours.
        unit: Whom it protects.
        claimed: The budget that somebody claims to spend; None where nobody does.
        delta: The additive term of (ε, δ)-privacy; pure noise has none whatever it is.
        assumed: Whether the proof rests on an assumption, which the reasons name.
        spent: ε by a closed form of the same composition; None to ask the accountant.
        said: What the paper says.
    """
    from engine.privacy import accounting  # takes a second to load

    exposed = any(isinstance(one.mechanism, Exposed) for one in made)
    pure = exposed or all(isinstance(one.mechanism, PURE) for one in made)
    coins = any(one.rate < 1.0 for one in made)
    status: Status = "proved_under_assumption" if assumed else "proved"
    if exposed:
        status = "not_private" if claimed is None else "heuristic"
    elif spent is None:
        spent = accounting.epsilon(cost(made), 0.0 if pure else delta, relation)
    usual: Words = {
        "mechanism": "",
        "reasons": (),
        "released": tuple(one.what for one in made),
        "accountant": "" if exposed else SUM if pure else RENYI if coins else EXACT,
        "sampling": POISSON if coins else "",
    }
    usual.update(said)
    return Guarantee(
        status=status,
        epsilon_claimed=claimed,
        epsilon_proved=None if exposed else spent,
        delta=0.0 if pure else delta,
        relation=relation,
        unit=unit,
        **usual,
    )
