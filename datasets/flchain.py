"""Serum free light chains and death in Olmsted County, as scikit-survival bundles it."""

import numpy as np

from datasets.base import Card, Floats, SurvivalTable, check

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
    public="The number of records, the columns with their ranges, the largest row norm after "
    "scaling, the longest time, and the mean creatinine that fills 1,350 missing values are "
    "computed from the data and treated as public",
    embedded=True,
)


def load() -> SurvivalTable:
    """Returns the 7,874 persons of Dispenzieri et al. (2012): x (7874, 8), time in days.

    Sex is 1 for men, mgus 1 where diagnosed. Missing creatinine (1,350) is the mean of the rest.

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
    creatinine[np.isnan(creatinine)] = np.nanmean(creatinine)
    return check(
        SurvivalTable(
            card=CARD,
            x=x,
            time=np.asarray(outcome["futime"], np.float64),
            event=np.asarray(outcome["death"], np.bool_),
        )
    )
