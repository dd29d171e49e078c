"""Time from second to third birth: the Medical Birth Registry of Norway."""

import numpy as np

from datasets.base import Bounds, Card, SurvivalTable, check
from datasets.fetch import File, fetch
from datasets.parse import numbers

CARD = Card(
    name="third_births",
    title="Time to third birth (Norway)",
    summary="Mothers of two in the Medical Birth Registry of Norway, followed from the second "
    "birth until the third or the end of observation.",
    records=16_116,
    events=1_761,
    record="a mother",
    features=("age", "spacing", "sibs"),
    units=("years", "days", "1 = one boy, one girl"),
    source="Aalen, Borgan and Gjessing (2008), Survival and Event History Analysis, Springer; "
    "http://folk.uio.no/borgan/abg-2008/data/third_births.txt",
    licence="None stated; the book's authors thank the Medical Birth Registry of Norway and "
    "S. E. Vollset for permission to use data of the registry, so ask before passing it on",
    public="The number of records and the bounds of columns and times, which are common knowledge; "
    "values beyond them are clipped. As printed, ranges, the largest row norm and the longest time "
    "are computed from the data instead",
    bounds=Bounds(
        covariates=((15.0, 50.0), (0.0, 3_653.0), (0.0, 1.0)),
        horizon=3_653.0,
        source="The ages at which women bear children, 15 to 50 years, as the World Health "
        "Organization counts them, and ten years from one birth to the next, a round number",
    ),
)
HEADER = ("age", "spacing", "sibs", "time", "status")
FILE = File(
    path="births/third_births.txt",
    sha256="305838f4e77daa5f8d7bd03e4ff8a468ef944fd3bcb435469846f957c2fd4b1b",
    urls=(
        "http://folk.uio.no/borgan/abg-2008/data/third_births.txt",
        "https://www.mn.uio.no/math/english/people/aca/borgan/data/third_births.txt",
    ),
    text=True,
)


def load() -> SurvivalTable:
    """Returns the 16,116 mothers of Aalen, Borgan and Gjessing (2008): x (16116, 3), time in days.

    Columns: mother's age at first birth (years), days from first to second birth, and 1 where
    the first two children differ in sex (published codes 3 boy-girl and 4 girl-boy), else 0.

    Raises:
        DatasetError: The file is missing, damaged or another one.
    """
    table = numbers(fetch(FILE), FILE.path, HEADER)
    age, spacing, sexes, time, status = table.T
    return check(
        SurvivalTable(
            card=CARD,
            x=np.stack([age, spacing, (sexes >= 3).astype(np.float64)], axis=1),
            time=time.copy(),
            event=status == 1,
        )
    )
