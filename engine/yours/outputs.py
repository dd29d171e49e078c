"""What a training function gave back, as numbers that an attacker may look at."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import RequestError

Floats = NDArray[np.float64]
KEPT = 1_500
"""Coordinates of all arrays together that are looked at one by one; of more, evenly spaced ones."""
ENDS = 3
"""Largest and smallest coordinates of each array that are looked at."""


def arrays(output: Any) -> dict[str, Floats]:
    """What a training function gave back, by name.

    Args:
        output: A number, an array, a sequence of arrays, or a mapping of names to arrays.

    Raises:
        RequestError: Something that is no number or array of numbers.
    """
    match output:
        case Mapping():
            parts = {str(name): value for name, value in output.items()}
        case tuple() | list() if any(np.ndim(_plain(one)) for one in output):
            parts = {f"output {i}": value for i, value in enumerate(output)}
        case _:
            parts = {"output": output}
    found = {}
    for name, value in sorted(parts.items()):
        try:
            found[name] = np.asarray(_plain(value), dtype=np.float64)
        except (TypeError, ValueError):
            raise RequestError(
                f"fit: expected arrays of numbers, got {type(value).__name__} as {name!r}"
            ) from None
    return found


def _plain(value: Any) -> Any:
    """A value without what a library adds to an array, such as torch's graph."""
    detach = getattr(value, "detach", None)
    return detach().cpu().numpy() if detach is not None else value


SUMMARY = (
    "size", "undefined numbers", "sum", "norm", "different numbers", "zeros", "whole numbers",
    "distance to the witness", "largest product with the witness",
    *(f"smallest number {i + 1}" for i in range(ENDS)),
    *(f"largest number {ENDS - i}" for i in range(ENDS)),
)  # fmt: skip
"""What is computed from each array as a whole."""


def features(output: Mapping[str, Floats], witness: Floats) -> dict[str, float]:
    """Numbers of an output that an attacker may tell the two worlds by, by their names.

    Args:
        output: As `arrays` returns it.
        witness: The witness's own numbers, shape (d,).
    """
    found = {"arrays": float(len(output))}
    for name, part in output.items():
        values = _summary(part, witness)
        found |= {f"{what} of {name}": one for what, one in zip(SUMMARY, values, strict=True)}
    room = max(1, KEPT // max(1, len(output)))
    for name, part in output.items():
        flat = np.ravel(part)
        places = np.arange(len(flat))
        if len(flat) > room:
            places = np.linspace(0, len(flat) - 1, room).round().astype(np.int64)
        found |= {f"{name}[{i}]": float(flat[i]) for i in places}
    return found


def _summary(part: Floats, witness: Floats) -> list[float]:
    """What one array is like as a whole."""
    flat = np.ravel(part)
    finite = flat[np.isfinite(flat)]
    if not len(finite):
        return [float(len(flat)), float(len(flat)), *[0.0] * (len(SUMMARY) - 2)]
    ends = np.resize(np.sort(finite), max(len(finite), ENDS))
    far = np.abs(finite[:, None] - witness[None, :]).min() if len(finite) <= KEPT else 0.0
    along = part @ witness if part.shape[-1:] == witness.shape else np.zeros(1)
    return [
        float(len(flat)), float(len(flat) - len(finite)), float(finite.sum()),
        float(np.linalg.norm(finite)), float(len(np.unique(finite))),
        float((finite == 0.0).sum()), float((finite == np.round(finite)).sum()), float(far),
        float(np.abs(along).max()), *ends[:ENDS].tolist(), *ends[-ENDS:].tolist(),
    ]  # fmt: skip
