"""Figure 2 on the page: accuracy by how many times a run is trained on."""

from engine.runs.job import Job
from pages.ui.paper.swept import Swept

TIMES = {"yesiwell": (6, 12, 28, 54), "yesiwell_weekly": (6, 12, 18, 24)}
"""Values of M by data set; the page's own is added."""


def times(job: Job) -> tuple[int, ...]:
    """Those that a window fits into."""
    least = int(job.values["window"])
    return tuple(many for many in TIMES.get(job.dataset, ()) if many >= least)


AMOUNTS = Swept(
    key="yesiwell.amounts",
    field="history",
    methods=("pcdbn", "cdbn"),
    values=times,
    symbol="M",
    title="Training times M",
    column="M",
    button="Train these too",
    caption="More training times give more windows, and a user's share of each sum stays the same: "
    "the noise grows with M as the sums do.",
)
