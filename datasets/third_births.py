"""Time from second to third birth: the Medical Birth Registry of Norway."""

from datasets.base import Bounds, Card, SurvivalTable, check
from datasets.fetch import File, fetch
from datasets.parse import numbers

CARD = Card(
    name="third_births",
    title="Time to third birth (Norway)",
    summary="Mothers of two in the Medical Birth Registry of Norway, followed from the second "
    "birth until the third or the end of observation. The column sibs is the publisher's code "
    "for the sexes of the first two children, as a number: 1 two boys, 2 two girls, 3 a boy and "
    "then a girl, 4 a girl and then a boy.",
    records=16_116,
    events=1_761,
    record="a mother",
    features=("age", "spacing", "sibs"),
    units=("years", "days", "code 1 to 4"),
    source="Aalen, Borgan and Gjessing (2008), Survival and Event History Analysis, Springer; "
    "http://folk.uio.no/borgan/abg-2008/data/third_births.txt",
    licence="None stated; the book's authors thank the Medical Birth Registry of Norway and "
    "S. E. Vollset for permission to use data of the registry, so ask before passing it on",
    public="The number of records and the bounds of columns and times, which are common knowledge; "
    "values beyond them are clipped. As printed, ranges, the largest row norm and the longest time "
    "are computed from the data instead",
    bounds=Bounds(
        covariates=((15.0, 50.0), (0.0, 3_653.0), (1.0, 4.0)),
        horizon=3_653.0,
        source="The ages at which women bear children, 15 to 50 years, as the World Health "
        "Organization counts them, ten years from one birth to the next, a round number, and the "
        "codes of the publisher",
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

    Columns: mother's age at first birth (years), days from first to second birth, and the
    published code of the first two children's sexes, 1 to 4 (3 and 4: one of each). Nguyen and Hui
    (2017) took the code as a number, and only that reproduces their Section 6.4.

    Raises:
        DatasetError: The file is missing, damaged or another one.
    """
    table = numbers(fetch(FILE), FILE.path, HEADER)
    time, status = table[:, 3], table[:, 4]
    return check(
        SurvivalTable(
            card=CARD,
            x=table[:, :3].copy(),
            time=time.copy(),
            event=status == 1,
        )
    )
