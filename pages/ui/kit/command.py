"""Asks the command line in a process of its own, which may load what a page may not."""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from engine.core.errors import RequestError
from engine.service.starting import ROOT


def answer(words: Sequence[str], patience: float) -> dict[str, Any]:
    """What `python -m engine …words --json` prints.

    Args:
        words: The command and its arguments.
        patience: Seconds that it may take on a busy machine.

    Raises:
        RequestError: It cannot be said; the sentence says why.
    """
    command = [sys.executable, "-m", "engine", *words, "--json"]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=patience, check=False
        )
    except subprocess.TimeoutExpired:
        raise RequestError(
            f"{words[0]}: expected an answer within {patience:g} s, got none"
        ) from None
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise RequestError(said[-1] if said else f"{words[0]}: expected an answer, got none")
    found: dict[str, Any] = json.loads(done.stdout)
    return found
