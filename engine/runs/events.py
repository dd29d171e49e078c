"""What a run says while it runs. Events are values: frozen, small, JSON-ready.

`encode` and `decode` are the one place where an event becomes JSON and back; a
number that is not finite becomes null, because JSON has no other word for it.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from engine.core import stored
from engine.core.errors import RequestError

Outcome = Literal["completed", "cancelled"]


@dataclass(frozen=True)
class Started:
    """The work begins: `total` steps of each of the replicas' chunks, taken together.

    Attributes:
        step: Steps that have been taken.
        total: Steps to take.
        replicas: How many settings there are.
        device: The kind of device that trains them: "cpu" or "cuda".
    """

    step: int
    total: int
    replicas: int
    device: str = "cpu"


@dataclass(frozen=True)
class Measured:
    """What some replicas show after `step` of their own steps.

    Attributes:
        step: Steps that these replicas have taken.
        replicas: Their positions on the leading axis.
        values: One list per gauge, aligned with `replicas`; None where not finite.
    """

    step: int
    replicas: tuple[int, ...]
    values: dict[str, tuple[float | None, ...]]


@dataclass(frozen=True)
class Spent:
    """The privacy loss of some replicas up to and including `step`; None when unbounded."""

    step: int
    replicas: tuple[int, ...]
    epsilon: tuple[float | None, ...]
    delta: tuple[float, ...]


@dataclass(frozen=True)
class Advanced:
    """Work done, for the progress bar: `done` of the run's `total` steps."""

    step: int
    done: int
    total: int


@dataclass(frozen=True)
class Produced:
    """Arrays that belong to the run, kept as one file named by the hash of its content."""

    step: int
    name: str
    digest: str
    replicas: tuple[int, ...]


@dataclass(frozen=True)
class Finished:
    """The run is over. Replicas that diverged are a result, not an error."""

    step: int
    outcome: Outcome
    diverged: tuple[int, ...] = ()


@dataclass(frozen=True)
class Failed:
    """The run raised; `error` is one sentence."""

    step: int
    error: str


Event: TypeAlias = Started | Measured | Spent | Advanced | Produced | Finished | Failed
KINDS: dict[str, type[Event]] = {kind.__name__: kind for kind in get_args(Event)}


def encode(event: Event) -> dict[str, Any]:
    """An event as JSON values, its class under `kind`."""
    return {"kind": type(event).__name__, **_finite(vars(event))}


def decode(body: dict[str, Any]) -> Event:
    """The event that `encode` wrote.

    Raises:
        ValueError: A kind of event that this version does not know, or a field that is none.
    """
    kind = body.get("kind") if isinstance(body, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise stored.wrong("an event of a kind that this version knows", kind)
    return stored.read(KINDS[kind], {n: value for n, value in body.items() if n != "kind"})


def fitting(event: Event) -> Event:
    """The same event, each of whose measures has a number for every replica.

    Raises:
        RequestError: One has more or fewer.
    """
    if isinstance(event, Measured):
        for name, column in event.values.items():
            if len(column) != len(event.replicas):
                raise RequestError(
                    f"measure {name}: expected a number for each of {len(event.replicas)} "
                    f"replicas, got {len(column)}"
                )
    return event


def _finite(value: Any) -> Any:
    """`value` with every number that is not finite replaced by None."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {key: _finite(item) for key, item in value.items()}
        case tuple() | list():
            return [_finite(item) for item in value]
        case _:
            return value
