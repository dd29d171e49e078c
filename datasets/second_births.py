"""Time from first to second birth: the publisher's file where there is one, else a simulator.

The Medical Birth Registry of Norway's 53,558 women of Aalen, Borgan and Gjessing (2008). The
card says which of the two a page is looking at: `card()` follows the files at hand, `CARD` is
what holds without any.
"""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from datasets.base import Bounds, Card, SurvivalTable, check
from datasets.fetch import File, card_at_hand, content, local
from datasets.parse import numbers
from datasets.simulate import second_births as simulate
from engine.core.errors import DatasetError

CARD = Card(
    name="second_births",
    title="Time to second birth (simulated)",
    summary="Simulated: no record is a real woman; drawn to have the size, the columns and the "
    "event rate of the Norwegian registry data, followed from the first birth.",
    records=53_558,
    events=16_341,
    record="a mother",
    features=("age", "sex", "death"),
    units=("years", "1 = boy", "1 = died"),
    source="A simulator in this app, modelled on Aalen, Borgan and Gjessing (2008), Survival and "
    "Event History Analysis, Springer; the publisher's file replaces it once "
    "births/second_births.txt lies in the folder named by EXPLORER_DATA",
    licence="As this app; no registry data are contained",
    public="Everything: the records are simulated; the guarantee is "
    "computed as if they were somebody's, from bounds that are common knowledge",
    bounds=Bounds(
        covariates=((15.0, 50.0), (0.0, 1.0), (0.0, 1.0)),
        horizon=3_653.0,
        source="The ages at which women bear children, 15 to 50 years, as the World Health "
        "Organization counts them, and ten years from one birth to the next, a round number",
    ),
    simulated=True,
    embedded=True,
)
PUBLISHED = replace(
    CARD,
    title="Time to second birth (Norway)",
    summary="Mothers in the Medical Birth Registry of Norway, followed from the first birth "
    "until the second or the end of observation.",
    events=None,
    source="Aalen, Borgan and Gjessing (2008), Survival and Event History Analysis, Springer; "
    "second_births.txt on the book's site, https://www.mn.uio.no/math/english/people/aca/borgan/",
    licence="None stated; the publisher thanks the Medical Birth Registry of Norway and "
    "S. E. Vollset for permission to use the data, so ask before passing it on",
    public="The number of records and the bounds of columns and times, which are common knowledge; "
    "values beyond them are clipped. As printed, ranges, the largest row norm and the longest time "
    "are computed from the data instead",
    simulated=False,
    embedded=False,
)
HEADER = ("age", "sex", "death", "time", "status")
FILE = File(path="births/second_births.txt", sha256=None, text=True)


def card() -> Card:
    """Returns the card of what `load` would give now: the publisher's file or the simulator.

    The events of the publisher's file are counted in it. Where it is damaged, the card is still
    the publisher's, without that number, and `load` raises: it never falls back in silence.
    """
    return card_at_hand(FILE.path, _published, CARD, PUBLISHED)


def load() -> SurvivalTable:
    """Returns 53,558 women: x (53558, 3), time in days; its card says whether it is simulated.

    Columns: mother's age at first birth (years), 1 where the first child is a boy (published
    code 1; 2 is a girl, here 0), and 1 where it died within a year.

    Raises:
        DatasetError: The publisher's file is there but damaged or of another size or layout.
    """
    place = local(FILE.path)
    if place is not None:
        return _published(place, place.stat().st_mtime_ns)
    x, time, event = simulate(CARD.records, 16_341)
    return check(SurvivalTable(CARD, x, time, event))


@lru_cache(maxsize=1)
def _published(place: Path, _changed: int) -> SurvivalTable:
    """Reads the publisher's file; no checksum of it is known, so codes are checked instead."""
    table = numbers(content(place, FILE), FILE.path, HEADER)
    age, sex, death, time, status = table.T
    codes = (("sex", sex, (1, 2)), ("death", death, (0, 1)), ("status", status, (0, 1)))
    for name, column, allowed in codes:
        if not np.isin(column, allowed).all():
            raise DatasetError(f"{FILE.path}: expected {name} to be one of {allowed}, got others")
    counted = replace(PUBLISHED, events=int(status.sum()))
    x = np.stack([age, (sex == 1).astype(np.float64), death], axis=1)
    return check(SurvivalTable(counted, x, time.copy(), status == 1))
