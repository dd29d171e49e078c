"""Epsilon Explorer in a notebook: train, price and attack private methods.

    import epsilon_explorer as ee
    runs = ee.run("survival", ["dp_newton", "out_pert"], epsilon=[0.1, 0.5, 1, 5], seeds=20)
    runs.frame()              # one row for each method, ε and seed, with its guarantee
    runs.plot("concordance")  # the page's chart, as a plotly Figure

Runs are kept in the store of the app: what was trained there is not trained again here, and the
other way round. No server is needed.
"""

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if str(Path(__file__).parent) not in sys.path:  # its modules import each other by their own names
    sys.path.insert(0, str(Path(__file__).parent))

from datasets import catalog as _datasets
from datasets.base import Card
from engine.catalog import catalog as _catalog
from engine.catalog import paper as _paper
from engine.core.errors import ExplorerError, RequestError
from engine.core.gauges import gauges as _gauges
from engine.core.spec import Value
from engine.method import Paper
from engine.privacy.guarantee import Guarantee
from engine.runs.job import Job
from engine.runs.job import request as _request
from engine.runs.job import sound as _sound
from engine.runs.results import Results
from engine.yours.claim import Claim
from engine.yours.function import Attacked, audit_function
from engine.yours.writers import jax_privacy_run, opacus_run

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from engine.audit.published import Verdict
    from engine.audit.report import Audit

__all__ = [
    "Attacked", "Claim", "ExplorerError", "Run", "Runs", "audit", "audit_function", "card",
    "datasets", "jax_privacy_run", "opacus_run", "papers", "price", "run", "verify",
]  # fmt: skip
BUDGET = "epsilon"


@dataclass(frozen=True)
class Run:
    """One method's run.

    Attributes:
        job: What was asked for.
        results: What was measured, one row for each ε and seed.
        outdated: Whether an earlier version of the program measured it.
    """

    job: Job
    results: Results
    outdated: bool = False

    @property
    def label(self) -> str:
        """The method as the pages name it."""
        return self.job.entry().label

    def cards(self) -> list[Guarantee]:
        """The guarantee of each row."""
        entry, data = self.job.entry(), _datasets.card(self.job.dataset)
        known = {spec: entry.promise(spec, data) for spec in dict.fromkeys(self.job.batch().specs)}
        return [known[spec] for spec in self.job.batch().specs]

    def rows(self) -> list[dict[str, Any]]:
        """A row for each ε and seed: settings that the method uses, measures, guarantee."""
        rows = []
        batch, entry = self.job.batch(), self.job.entry()
        pairs = zip(batch.specs, batch.seeds, self.cards(), strict=True)
        for number, (spec, seed, promised) in enumerate(pairs):
            settings = spec.values()
            rows.append(
                {
                    "paper": self.job.paper, "method": self.job.method, "dataset": self.job.dataset,
                    "seed": seed, **{name: settings[name] for name in entry.uses},
                    **{name: column[number] for name, column in self.results.gauges.items()},
                    "status": promised.status, "epsilon_claimed": promised.epsilon_claimed,
                    "epsilon_proved": promised.epsilon_proved, "delta": promised.delta,
                    "outdated": self.outdated,
                }
            )  # fmt: skip
        return rows

    def frame(self) -> "pd.DataFrame":
        """The same as a table."""
        import pandas as pd

        return pd.DataFrame(self.rows())


class Runs(Sequence[Run]):
    """The runs of several methods of a paper."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = tuple(runs)

    def __getitem__(self, place: Any) -> Any:
        """One run, or some of them."""
        return Runs(self._runs[place]) if isinstance(place, slice) else self._runs[place]

    def __len__(self) -> int:
        """How many methods."""
        return len(self._runs)

    def frame(self) -> "pd.DataFrame":
        """The rows of all runs, one below the other."""
        import pandas as pd

        return pd.DataFrame([row for run in self._runs for row in run.rows()])

    def plot(self, gauge: str = "", at: float | None = None) -> "go.Figure":
        """The page's chart: a measure against ε.

        Args:
            gauge: Name of the measure; the paper's own if empty.
            at: The ε that is marked; the middle of the grid if None.

        Raises:
            RequestError: There is no such measure.
        """
        from pages.ui.charts import curves, measured

        first = self._runs[0]
        name = gauge or _paper(first.job.paper).gauge
        known = _gauges(first.job.entry().info)
        if name not in known:
            raise RequestError(f"gauge: expected one of {', '.join(known)}, got {name!r}")
        lines, levels = [], []
        for place, one in enumerate(self._runs):
            if BUDGET in one.job.axes:
                lines.append(measured.curve(one.results, name, one.label, place))
            elif (level := measured.level(one.results, name, one.label, place)) is not None:
                levels.append(level)
        grid = sorted({budget for line in lines for budget in line.epsilon}) or [1.0]
        chosen = grid[len(grid) // 2] if at is None else at
        bounds = (min(grid[0], chosen), max(grid[-1], chosen))
        drawn = curves.utility(lines, levels, known[name], chosen, first.job.id, bounds)
        figure: go.Figure = drawn.whole
        return figure


def papers() -> dict[str, Paper[Any]]:
    """The papers by slug; each lists its methods, data sets and settings."""
    return _catalog()


def datasets() -> list[Card]:
    """What is known of every data set that a paper takes, without reading a file."""
    names = dict.fromkeys(name for one in _catalog().values() for name in one.datasets)
    return [_datasets.card(name) for name in names]


def run(
    paper: str,
    methods: str | Sequence[str],
    *,
    data: "str | pd.DataFrame | None" = None,
    columns: Mapping[str, Mapping[str, Any]] | None = None,
    accept: bool = False,
    epsilon: float | Sequence[float] | None = None,
    seeds: int | Sequence[int] = 1,
    progress: bool = True,
    again: bool = False,
    **settings: Value,
) -> Runs:
    """Trains methods of a paper, or takes from the store what was trained before.

    A warning names each run that an earlier version of the program has trained.

    An interrupt ends the training; what is finished is kept, and the same call goes on from there.

    Args:
        paper: Slug of the paper.
        methods: One or several of its methods.
        data: Name of a data set, or a table of your own, which is kept on this machine alone; the
            paper's first if None.
        columns: Of a table of your own: what you know of its columns without looking at the
            records: {"age": {"role": "number", "low": 18, "high": 100}}. `docs/tables.md` names
            the roles.
        accept: Whether bounds and categories that nobody has stated are taken from the data. The
            guarantees then hold only under that assumption.
        epsilon: One budget or several; as the paper's page opens if None.
        seeds: How many repetitions, or which.
        progress: Whether to show a bar.
        again: Whether to train again what the store holds; the new numbers replace the old ones.
        settings: Further settings of the methods that use them.

    Raises:
        RequestError, SpecError: Something that is asked for does not exist or does not fit.
        DatasetError: A table of your own lacks something; one sentence says all that is wrong.
    """
    names = [methods] if isinstance(methods, str) else list(methods)
    table = data if data is None or isinstance(data, str) else _kept(data, columns or {}, accept)
    jobs = [_job(paper, name, table, epsilon, seeds, settings, names) for name in names]
    return Runs(_trained(jobs, progress, again))


def _trained(jobs: Sequence[Job], progress: bool, again: bool) -> list[Run]:
    """What jobs come to, with a warning of those that an earlier version has trained."""
    from engine.cli.work import complete
    from engine.service.client import Client

    client, runs = Client(workers=False), []
    try:
        for job in jobs:
            with _bar(job, progress) as tell:
                done, _ = complete(client, job, tell, again=again)
            for sentence in done.aged("again=True"):
                warnings.warn(sentence, stacklevel=3)
            runs.append(Run(job, client.table(job.id), done.outdated))
    finally:
        client.close()
    return runs


def price(
    paper: str, method: str, *, data: str | None = None, epsilon: float | None = None,
    **settings: Value,
) -> Guarantee:  # fmt: skip
    """The guarantee of a method at one setting; reads no data."""
    job = _sound(_job(paper, method, data, epsilon, 1, settings, [method]))
    return job.entry().promise(job.batch().spec, _datasets.card(job.dataset))


def card(run: Run | Job, epsilon: float | None = None) -> dict[str, Any]:
    """The guarantee of a run at one ε as a document, which `card verify` checks.

    Args:
        run: The run.
        epsilon: At which of its ε; the largest, which protects least, if None.

    Raises:
        RequestError: It was not trained at that ε, or has several values of another setting.
    """
    from engine.yours import card_file

    job = run.job if isinstance(run, Run) else run
    if BUDGET in job.axes:
        axes, known = dict(job.axes), sorted(float(value) for value in job.axes[BUDGET])
        chosen = known[-1] if epsilon is None else epsilon
        if chosen not in known:
            raise RequestError(
                f"epsilon: expected one of {', '.join(f'{one:g}' for one in known)}, got {chosen!r}"
            )
        axes.pop(BUDGET)
        values = {**job.values, BUDGET: chosen}
        job = _request(job.paper, job.method, job.dataset, values, axes, job.seeds)
    return card_file.of_job(job)


def audit(
    paper: str, method: str, *, data: str | None = None, epsilon: float | None = None,
    replicas: int = 1000, **settings: Value,
) -> "Audit":  # fmt: skip
    """Attacks a method of a paper and says what is claimed, proved and attacked."""
    from engine.audit.outside import drawn
    from engine.audit.report import audit as attack
    from engine.audit.report import check
    from engine.audit.training import Setting

    job = _job(paper, method, data, epsilon, 1, settings, [method])
    entry, spec = job.entry(), job.batch().spec
    check(entry, spec, _datasets.card(job.dataset).records, replicas)
    records = _datasets.load(job.dataset)
    drawn(Setting.of(entry, spec, records))
    found = [now for now, _ in attack(entry, spec, records, replicas, "cpu")]
    return found[-1]


def verify(
    paper: str, method: str, *, data: str | None = None, epsilon: float | None = None,
    **settings: Value,
) -> "Verdict":  # fmt: skip
    """Replays a method on other records and compares what it would publish, bit by bit."""
    from engine.cli.verify import verified

    job = _job(paper, method, data, epsilon, 1, settings, [method])
    return verified(job, _datasets.load(job.dataset))


def _kept(frame: "pd.DataFrame", columns: Mapping[str, Mapping[str, Any]], accept: bool) -> str:
    from datasets import own

    if not hasattr(frame, "to_parquet"):
        raise RequestError(
            "data: expected a data frame of pandas or the name of a data set, got "
            f"{type(frame).__name__}"
        )
    return own.keep_frame(frame, _python(columns), accept)


def _python(value: Any) -> Any:
    """A value with Python's own numbers and lists where NumPy or pandas made it."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _python(one) for key, one in value.items()}
    return [_python(one) for one in value] if isinstance(value, list | tuple) else value


def _job(
    slug: str, method: str, data: str | None, epsilon: float | Sequence[float] | None,
    seeds: int | Sequence[int], settings: Mapping[str, Value], together: Sequence[str],
) -> Job:  # fmt: skip
    """What to run, with what the call leaves open as the paper's page opens.

    Raises:
        RequestError: A setting that none of the methods that are asked for together uses.
    """
    epsilon, seeds, settings = map(_python, (epsilon, seeds, settings))
    publication = _paper(slug)
    dataset, entry = data or publication.datasets[0], publication.entry(method)
    known = {name for one in together for name in publication.entry(one).uses}
    for name in settings:
        if name not in known:
            raise RequestError(
                f"{name}: expected a setting that is used ({', '.join(sorted(known))}), "
                f"got {name!r}"
            )
    begins = publication.begins(method, dataset)
    values: dict[str, Any] = {
        name: begins[name] for name in publication.opening if name in entry.uses
    } | {name: value for name, value in settings.items() if name in entry.uses}
    axes: dict[str, Sequence[Any]] = {}
    if BUDGET in entry.uses and epsilon is not None:
        values.pop(BUDGET, None)
        if isinstance(epsilon, Sequence) and not isinstance(epsilon, str):
            axes[BUDGET] = epsilon
        else:
            values[BUDGET] = epsilon
    which = range(seeds) if isinstance(seeds, int) else seeds
    return _request(slug, method, dataset, values, axes, which)


@contextmanager
def _bar(job: Job, wanted: bool) -> Iterator[Callable[[int, int], None]]:
    """A bar while a job trains; nothing where none is wanted."""
    from tqdm.auto import tqdm

    bar: Any = tqdm(desc=job.entry().label, disable=not wanted, unit="step", leave=False)
    with closing(bar):

        def tell(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield tell
