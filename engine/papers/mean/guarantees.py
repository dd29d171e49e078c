"""What the cards say of the private mean. No torch here."""

from engine.papers.mean import price
from engine.papers.mean.spec import MeanSpec
from engine.privacy.guarantee import Guarantee
from engine.privacy.releases import cost
from engine.promise import promise, words


def laplace_card(spec: MeanSpec, n: int, unit: str) -> Guarantee:
    """The card of the Laplace mechanism."""
    made, said = price.laplace_releases(spec, n), words(__package__, "laplace")
    return promise(made, price.RELATION, unit, claimed=spec.epsilon, **said)


def gaussian_card(spec: MeanSpec, n: int, unit: str) -> Guarantee:
    """The card of the Gaussian mechanism: what its noise costs by the exact curve."""
    from engine.privacy import accounting  # takes a second to load

    made, printed = price.gaussian_releases(spec, n), spec.calibration == "paper"
    spent = accounting.epsilon(cost(made), spec.delta, price.RELATION)
    beyond = spec.epsilon >= 1.0
    said = words(
        __package__, "gaussian", printed=("printed_noise",) if printed else (), spent=spent,
        size="larger than needed" if spent <= spec.epsilon else "too small",
        beyond=("beyond_one",) if beyond else "",
    )  # fmt: skip
    return promise(
        made, price.RELATION, unit, delta=spec.delta, spent=spent,
        claimed=None if printed and beyond else spec.epsilon, **said,
    )  # fmt: skip


def exact_card(spec: MeanSpec, n: int, unit: str) -> Guarantee:
    """The card of the method without noise."""
    made, said = price.exact_releases(spec, n), words(__package__, "exact")
    return promise(made, price.RELATION, unit, claimed=None, **said)
