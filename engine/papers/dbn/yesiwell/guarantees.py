"""What the cards say: for each unit of protection what is proved, and what is not."""

from engine.papers.dbn import guarantees
from engine.papers.dbn.price import RELATION
from engine.papers.dbn.yesiwell import price
from engine.papers.dbn.yesiwell.spec import YesiwellSpec
from engine.privacy.guarantee import Guarantee
from engine.privacy.releases import Release
from engine.promise import Words, promise, words


def _unit(spec: YesiwellSpec, unit: str) -> str:
    return f"one window of {unit}" if spec.unit == "window" else unit


def reference_card(spec: YesiwellSpec, n: int, unit: str) -> Guarantee:
    """The card of a method without noise."""
    return guarantees.reference(_unit(spec, unit))


def network_card(spec: YesiwellSpec, n: int, unit: str) -> Guarantee:
    """The card of pCDBN, whatever its polynomial; what secret friendships need is an assumption."""
    if spec.calibration != "rigorous":
        return _printed(
            price.network_releases(spec, n), spec, unit, what="each layer's polynomial energy",
            lower=("positions", "counts", "second"),
        )  # fmt: skip
    own, matrix = price.own_windows(spec), price.matrix_sensitivity(spec)
    said = words(
        __package__, "network", own=own, friends=(spec.unit,), matrix=matrix, times=matrix / own,
        vector=price.vector_sensitivity(spec), social=spec.social,
    )  # fmt: skip
    return _proved(spec, unit, price.network_releases(spec, n), said, spec.unit != "user")


def code_card(spec: YesiwellSpec, n: int, unit: str) -> Guarantee:
    """The card of dPAH: its noise does not depend on D, but a run stops where D is exceeded."""
    made = price.code_releases(spec, n)
    if spec.calibration != "rigorous":
        return _printed(made, spec, unit, what="the auto-encoder's reconstruction error", lower=())
    checked = spec.unit == "user_and_graph"
    secret = ("checked",) if checked else ()
    said = words(__package__, "code", own=price.own_windows(spec), secret=secret)
    return _proved(spec, unit, made, said, assumed=checked)


def rival_card(spec: YesiwellSpec, n: int, unit: str) -> Guarantee:
    """The card of DP-SGD."""
    records = "all windows of a user" if spec.unit != "window" else "one window"
    given = {"multiplier": guarantees.multiplier(spec, n), "records": records}
    return guarantees.gradient(spec, n, _unit(spec, unit), words(__package__, "descent", **given))


def _proved(
    spec: YesiwellSpec, unit: str, made: tuple[Release, ...], said: Words, assumed: bool = False
) -> Guarantee:
    """The card of releases with proof."""
    return promise(
        made, RELATION, _unit(spec, unit), claimed=spec.epsilon, delta=spec.delta, assumed=assumed,
        **said,
    )  # fmt: skip


def _printed(
    made: tuple[Release, ...], spec: YesiwellSpec, unit: str, **facts: object
) -> Guarantee:
    """The card of an algorithm as its text has it."""
    group, objective = price.group(spec), (spec.objective,)
    said = words(__package__, "printed", group=group, objective=objective, **facts)
    return promise(made, RELATION, _unit(spec, unit), claimed=spec.epsilon, **said)
