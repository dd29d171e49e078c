"""Dynamic functional connectivity of ADNI's brain scans: a file of your own, else a simulator.

ADNI passes its scans on under a signed agreement only. A user who has them writes one file,
adni/adni.npz, with `numpy.savez`:

| array      | shape    | what it holds                                                     |
|------------|----------|-------------------------------------------------------------------|
| `features` | (n, ...) | a person's correlations in sliding windows, from -1 to 1          |
| `labels`   | (n,)     | 0 for a normal control, 1 for early mild cognitive impairment     |
| `subjects` | (n,)     | the person behind each row, numbers or texts, each of them once   |

Nothing in it is unpickled. The card says which of the two a page is looking at: `card()`
follows the file at hand, `CARD` is what holds without any.
"""

import zipfile
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datasets.base import Card, Floats, LabelledTable, check
from datasets.connectivity import connectivity
from datasets.fetch import card_at_hand, local
from engine.core.errors import DatasetError

CONTROLS, IMPAIRED = 154, 165
"""Persons in the study of Zhang et al. (2023), Section 5.2."""
PATH = "adni/adni.npz"
ARRAYS = ("features", "labels", "subjects")
CARD = Card(
    name="adni",
    title="Brain connectivity (simulated)",
    summary="Simulated: no record is a real person; correlations between brain regions in "
    "sliding windows, drawn for as many persons as the study of ADNI's scans had, 154 controls "
    "and 165 with early impairment.",
    records=CONTROLS + IMPAIRED,
    classes=2,
    record="a person",
    features=("correlations of 16 regions in 5 sliding windows",),
    source="A simulator in this app, with the counts of Zhang et al. (2023), Mathematics 11(2), "
    "330; a file of your own replaces it once adni/adni.npz lies in the folder named by "
    "EXPLORER_DATA",
    licence="As this app; no data of ADNI are contained",
    public="The number of persons, and the range -1 to 1 of a correlation",
    simulated=True,
    embedded=True,
)
PUBLISHED = replace(
    CARD,
    title="Brain connectivity (ADNI)",
    summary="Correlations between brain regions in sliding windows, from resting-state scans of "
    "normal controls and of persons with early mild cognitive impairment.",
    features=("correlations in sliding windows",),
    source="Alzheimer's Disease Neuroimaging Initiative, https://adni.loni.usc.edu/; the file at "
    "hand was made by a user with access",
    licence="ADNI Data Use Agreement: signed by each user, not to be passed on",
    simulated=False,
    embedded=False,
)


def card() -> Card:
    """Returns the card of what `load` would give now: the file at hand or the simulator.

    The file's persons are counted in it. Where it is damaged, the card is still the real one,
    with the study's count, and `load` raises: it never falls back in silence.
    """
    return card_at_hand(PATH, _published, CARD, PUBLISHED)


def load() -> LabelledTable:
    """Returns x (n, 600) from -1 to 1, a row per person: 319 where its card says simulated.

    Raises:
        DatasetError: The file is there but damaged or of another layout.
    """
    place = local(PATH)
    if place is not None:
        return _published(place, place.stat().st_mtime_ns)
    y = np.repeat(np.arange(2), (CONTROLS, IMPAIRED))
    return _table(CARD, connectivity(y), y)


@lru_cache(maxsize=1)
def _published(place: Path, _changed: int) -> LabelledTable:
    """Reads the file of a user who has access."""
    features, labels, subjects = _arrays(place)
    rows = len(labels) if labels.ndim == 1 else -1
    if features.ndim < 2 or len(features) != rows or subjects.shape != (rows,):
        raise DatasetError(
            f"{PATH}: expected features (n, ...), labels (n,) and subjects (n,), got shapes "
            f"{features.shape}, {labels.shape} and {subjects.shape}"
        )
    if features.dtype.kind not in "fiu" or not np.isin(labels, (0, 1)).all():
        raise DatasetError(f"{PATH}: expected numbers as features and 0 or 1 as labels, got others")
    if len(np.unique(subjects)) != rows:
        raise DatasetError(f"{PATH}: expected each subject once, got some of them more often")
    x = features.reshape(rows, -1).astype(np.float64)
    return _table(replace(PUBLISHED, records=rows), x, labels.astype(np.int64))


def _arrays(place: Path) -> list[NDArray[Any]]:
    """The three arrays of the file; whatever would need unpickling is refused."""
    try:
        with place.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            return [file[name] for name in ARRAYS]
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise DatasetError(
            f"{PATH}: expected a file of numpy.savez with plain arrays {', '.join(ARRAYS)}, got "
            f"another or a damaged one ({type(error).__name__})"
        ) from error


def _table(described: Card, x: Floats, y: NDArray[Any]) -> LabelledTable:
    bounds = (np.array(-1.0), np.array(1.0))
    return check(LabelledTable(card=described, x=x, y=y.astype(np.int64), bounds=bounds))
