"""Which values a run's id leaves out: those that a field stood for when runs were first named.

An id that held every value would change with every knob that is added, and one that left out
today's defaults would stay the same when a default changes. So `reference/defaults.json` keeps,
for each field of a paper whose exhibits ship, the default of the day on which it was first
shipped: a value is left out of an id while it is that one. For a field that is not in there yet,
it is today's default. Nothing in the file is ever changed; `record` adds what is missing.
"""

import functools
import json
from pathlib import Path
from typing import Any

from engine.core import stored
from engine.core.errors import StoreError
from engine.core.spec import Value
from engine.method import Paper

FOLDER = Path(__file__).parents[2] / "reference"
"""Where computed exhibits ship, with the defaults by which their runs are named."""
FILE = "defaults.json"


def left_out(paper: Paper[Any]) -> dict[str, Value]:
    """What each field of a paper stands for where an id does not say it."""
    today: dict[str, Value] = paper.spec().values()
    return today | {f: v for f, v in recorded().get(paper.slug, {}).items() if f in today}


@functools.cache
def recorded(folder: Path = FOLDER) -> dict[str, dict[str, Value]]:
    """The defaults on file, by paper and field; empty where there is no file.

    Raises:
        StoreError: The file is damaged, so that no run can be named.
    """
    path = folder / FILE
    try:
        return stored.read(dict[str, dict[str, Value]], json.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        said = f"{path}: expected the defaults by which runs are named: {error}"
        raise StoreError(said) from None


def record(paper: Paper[Any], folder: Path = FOLDER) -> None:
    """Adds the fields of a paper that are not on file yet, at today's defaults."""
    known = recorded(folder)
    defaults = paper.spec().values() | known.get(paper.slug, {})
    if defaults != known.get(paper.slug):
        text = json.dumps({**known, paper.slug: defaults}, indent=1, sort_keys=True)
        (folder / FILE).write_text(f"{text}\n", encoding="utf-8")
        recorded.cache_clear()
