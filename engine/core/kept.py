"""Arrays that a run keeps, declared once by their paper: what each is, and who may see it."""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeAlias


@dataclass(frozen=True)
class Kept:
    """What an array means.

    Attributes:
        what: What it holds, in words.
        released: Whether it follows from what the private mechanism releases, or from public
            knowledge, alone. All others are computed from raw records and could not be published.
        drawn: Whether a page draws it; what exports alone hold is the first that does not ship.
        public: Whether it may follow from public knowledge alone, so that noise need not change it.
    """

    what: str
    released: bool = False
    drawn: bool = True
    public: bool = False


Declared: TypeAlias = Mapping[str, Kept]
"""Arrays by name; a star stands for any end of a name, such as in `weights_*`."""


def declared(arrays: Declared, name: str) -> Kept | None:
    """The declaration of an array; None where there is none, which counts as raw."""
    return next((kept for key, kept in arrays.items() if fnmatchcase(name, key)), None)


def released(arrays: Declared, name: str) -> bool:
    """Whether an array may be published as the guarantee card of its run says."""
    one = declared(arrays, name)
    return one is not None and one.released
