"""Waiting for and living with a heart transplant: the Stanford programme, in long format."""

from datasets.base import Bounds, Card, SurvivalTable
from datasets.long import long_table

CARD = Card(
    name="heart",
    title="Heart transplants (Stanford)",
    summary="Patients accepted into the Stanford heart transplant programme from 1967 to 1974, "
    "followed until death or April 1974; whether they have received a heart changes in time.",
    records=103,
    events=75,
    record="a patient",
    features=("age", "year", "surgery", "transplant"),
    units=("years from 48", "years after November 1967", "1 = bypass before", "1 = received"),
    source="Crowley and Hu (1977), Covariance analysis of heart transplant survival data, Journal "
    "of the American Statistical Association 72:27-36; the copy in lifelines "
    "(load_stanford_heart_transplants) is used",
    licence="lifelines, which bundles the file: MIT; none stated for the data themselves",
    public="The number of patients and the bounds of columns and times, which are common "
    "knowledge; values beyond them are clipped. As printed, ranges, the largest row norm and the "
    "longest time are computed from the data instead",
    bounds=Bounds(
        covariates=((-48.0, 22.0), (0.0, 6.5), (0.0, 1.0), (0.0, 1.0)),
        horizon=2_374.0,
        source="Patients of at most 70 years, accepted between November 1967 and April 1974, by "
        "the plan of the study, which is six years and a half",
    ),
    embedded=True,
)


def load() -> SurvivalTable:
    """Returns the 103 patients of Crowley and Hu (1977), 69 of them with a transplant; in days.

    Raises:
        DatasetError: lifelines bundles another file than the card describes.
    """
    from lifelines.datasets import load_stanford_heart_transplants

    frame = load_stanford_heart_transplants()
    return long_table(CARD, {str(name): frame[name].tolist() for name in frame})
