"""Which device trains."""

import torch

from engine.core.errors import RequestError


def resolve_device(device: str) -> str:
    """The device itself, or for "auto" the one at hand: CUDA's where it computes.

    Raises:
        RequestError: One that is named and not there.
    """
    if device == "auto":
        return "cuda" if _computes("cuda") else "cpu"
    if not _computes(device):
        raise RequestError(f"device: expected auto, or one that torch can use here, got {device!r}")
    return device


def _computes(device: str) -> bool:
    """Whether torch can use a device: a card may be seen and be too old, or busy."""
    try:
        torch.Generator(device)
        return float(torch.ones(1, device=device).sum()) == 1.0
    except (RuntimeError, AssertionError):  # the latter where torch was built without
        return False
