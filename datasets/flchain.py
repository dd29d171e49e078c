"""Serum free light chains and death in Olmsted County, as scikit-survival bundles it."""

import numpy as np

from datasets.base import Bounds, Card, Floats, SurvivalTable, check

CARD = Card(
    name="flchain",
    title="Free light chains and survival (FLchain)",
    summary="Residents of Olmsted County, Minnesota, aged 50 or more, whose blood was sampled in "
    "1995 to 2003 and who were followed until death or the end of the study.",
    records=7_874,
    events=2_169,
    record="a person",
    features=("age", "sex", "sample.yr", "kappa", "lambda", "flc.grp", "creatinine", "mgus"),
    units=(
        "years",
        "1 = male",
        "calendar year",
        "mg/dL",
        "mg/dL",
        "group 1-10",
        "mg/dL",
        "1 = yes",
    ),
    source="Dispenzieri, Katzmann, Kyle et al. (2012), Use of nonclonal serum immunoglobulin free "
    "light chains to predict overall survival in the general population, Mayo Clinic Proceedings "
    "87:517-523; R package survival (T. Therneau); the copy in scikit-survival is used",
    licence="R package survival: LGPL (>= 2); scikit-survival, which bundles the file: GPL-3",
    public="The number of records and the bounds of columns and times, which are common knowledge; "
    "values beyond them are clipped, and 1,350 missing values of creatinine count as 1 mg/dL. As "
    "printed, ranges, the largest row norm, the longest time and the mean creatinine that fills "
    "the gaps are computed from the data instead",
    bounds=Bounds(
        covariates=(
            (50.0, 100.0),
            (0.0, 1.0),
            (1995.0, 2003.0),
            (0.0, 10.0),
            (0.0, 13.0),
            (1.0, 10.0),
            (0.0, 5.0),
            (0.0, 1.0),
        ),
        horizon=5_479.0,
        source="Residents of 50 or more whose blood was sampled from 1995 to 2003, by the plan of "
        "the study. Light chains up to five times the upper limits of healthy adults, 1.94 mg/dL "
        "(kappa) and 2.63 mg/dL (lambda; Katzmann et al. 2002, Clinical Chemistry 48:1437-1444), "
        "rounded; ten groups; creatinine up to 5 mg/dL, about four times the upper limit of "
        "healthy adults, whose middle is near 1 mg/dL. Times up to fifteen years, a round number",
        missing=(75.0, 0.0, 1999.0, 1.0, 1.5, 5.0, 1.0, 0.0),
    ),
    embedded=True,
)


def load() -> SurvivalTable:
    """Returns the 7,874 persons of Dispenzieri et al. (2012): x (7874, 8), time in days.

    Sex is 1 for men, mgus 1 where diagnosed. Missing creatinine (1,350) is the mean of the rest,
    and the table says where.

    Raises:
        DatasetError: scikit-survival bundles another file than the card describes.
    """
    from sksurv.datasets import load_flchain

    frame, outcome = load_flchain()
    columns = {name: frame[name] for name in CARD.features}
    columns["sex"] = columns["sex"] == "M"
    columns["mgus"] = columns["mgus"] == "yes"
    x: Floats = np.stack([np.asarray(columns[name], np.float64) for name in CARD.features], 1)
    creatinine = x[:, CARD.features.index("creatinine")]
    missing = np.isnan(x)
    creatinine[np.isnan(creatinine)] = np.nanmean(creatinine)
    return check(
        SurvivalTable(
            card=CARD,
            x=x,
            time=np.asarray(outcome["futime"], np.float64),
            event=np.asarray(outcome["death"], np.bool_),
            missing=missing,
        )
    )
