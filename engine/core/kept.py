"""Arrays that a run keeps, declared once by their paper: what each is, and who may see it.

A paper's file has them in three tables by who may see them (`KINDS`), each array with its words.
"""

from collections.abc import Collection, Mapping
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
KINDS = {
    "released": {"released": True},
    "public": {"released": True, "public": True},
    "raw": {"released": False},
}
"""What each table of a paper's file says of its arrays: they follow from releases, may follow from
public knowledge alone, or are computed from raw records."""


def arrays(tables: Mapping[str, Mapping[str, str]], undrawn: Collection[str] = ()) -> Declared:
    """The arrays of a paper's file.

    Args:
        tables: By kind, what each array holds.
        undrawn: Names of those that no page draws.

    Raises:
        KeyError: A kind that does not exist.

    >>> arrays({"raw": {"maps": "Feature maps"}})["maps"].released
    False
    """
    return {
        name: Kept(what, drawn=name not in undrawn, **KINDS[kind])
        for kind, words in tables.items()
        for name, what in words.items()
    }


def declared(arrays: Declared, name: str) -> Kept | None:
    """The declaration of an array; None where there is none, which counts as raw."""
    return next((kept for key, kept in arrays.items() if fnmatchcase(name, key)), None)


def released(arrays: Declared, name: str) -> bool:
    """Whether an array may be published as the guarantee card of its run says."""
    one = declared(arrays, name)
    return one is not None and one.released
