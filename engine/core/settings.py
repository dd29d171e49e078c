"""Whole numbers and switches from the environment, and one sentence on what is neither."""

import os

from engine.core.errors import RequestError

OFF, ON = ("0", "no", "off", "false"), ("1", "yes", "on", "true")


def whole(name: str, default: int) -> int:
    """A positive whole number from the environment.

    Raises:
        RequestError: It is there and is something else.
    """
    text = os.environ.get(name) or str(default)
    if not text.isascii() or not text.isdecimal() or not int(text):
        raise RequestError(f"{name}: expected a positive whole number, got {text!r}")
    return int(text)


def switch(name: str, default: bool) -> bool:
    """A switch from the environment: on or off.

    Raises:
        RequestError: It is there and is something else.
    """
    text = (os.environ.get(name) or ("on" if default else "off")).strip().lower()
    if text not in (*OFF, *ON):
        raise RequestError(f"{name}: expected on or off, got {text!r}")
    return text in ON
