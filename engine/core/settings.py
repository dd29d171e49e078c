"""Whole numbers and switches from the environment, and one sentence on what is neither."""

import os

from engine.core.errors import RequestError

DIGITS = 18
"""Digits of the longest whole number: any of so many fits into 64 bits."""
OFF, ON = ("0", "no", "off", "false"), ("1", "yes", "on", "true")


def whole(name: str, default: int, most: int | None = None) -> int:
    """A positive whole number from the environment.

    Args:
        name: What the setting is called.
        default: The number where the environment has none.
        most: The largest one; None for any.

    Raises:
        RequestError: It is there and is something else.
    """
    text = os.environ.get(name) or str(default)
    long = len(text) > DIGITS
    number = int(text) if text.isascii() and text.isdecimal() and not long else 0
    if not 0 < number <= (most or number):
        bound = f", at most {most}" if most else f" of at most {DIGITS} digits" * long
        raise RequestError(f"{name}: expected a positive whole number{bound}, got {text!r}")
    return number


def switch(name: str, default: bool) -> bool:
    """A switch from the environment: on or off.

    Raises:
        RequestError: It is there and is something else.
    """
    text = (os.environ.get(name) or ("on" if default else "off")).strip().lower()
    if text not in (*OFF, *ON):
        raise RequestError(f"{name}: expected on or off, got {text!r}")
    return text in ON
