"""What is said of runs: how far they are, how they ended, what has been trained."""

from collections.abc import Iterable
from datetime import UTC, datetime

from babel.dates import format_date

from engine.service.client import Run
from pages.ui import words
from pages.ui.kit.access import sentence
from pages.ui.messages import language, tr

OLD = ":material/update:"
SHIPPED = ":material/inventory_2:"
OUTDATED = "Computed by an earlier version"


def share(run: Run) -> float:
    """The part of a run's work that is done, between 0 and 1."""
    return min(1.0, run.done / run.total) if run.total else 0.0


def progress(label: str, run: Run) -> str:
    """One line on a run that waits or runs."""
    if run.stopping:
        return f"{label} · stopping"
    if run.state == "queued":
        first = "for a step of another run to end" if run.beside else "to begin"
        what = f"behind {words.plural(run.ahead, 'run')}" if run.ahead else first
        wait = run.seconds_waiting
        about = f" · begins in about {words.duration(wait)}" if wait and wait >= 1 else ""
        return f"{label} · waiting {what}{about}"
    left = run.seconds_left
    more = f", in turns with {words.plural(run.beside, 'other run')}" if run.beside else ""
    more += f" · about {words.duration(left)} left" if left and left >= 1 else ""
    return f"{label} · training, {100 * share(run):.0f} %{more}"


def endings(halted: Iterable[tuple[str, Run]]) -> list[str]:
    """One line on the runs that did not come to their end, for each way in which they ended."""
    names: dict[tuple[str, str], list[str]] = {}
    for label, run in halted:
        names.setdefault((run.state, run.error), []).append(label)
    return [_ending(labels, *how) for how, labels in names.items()]


def _ending(labels: list[str], state: str, error: str) -> str:
    many, reason = len(labels) > 1, f" {sentence(error)}".rstrip()
    who = words.listed([f"**{label}**" for label in labels])
    match state:
        case "cancelled":
            was, it = ("were", "they") if many else ("was", "it")
            if many and any("," in label for label in labels):
                who = words.plural(len(labels), "run")  # a list of such names cannot be read
            return f":material/stop_circle: {who} {was} stopped; what {it} measured is shown."
        case "interrupted":
            return f":material/power_off: {who} {'were' if many else 'was'} interrupted.{reason}"
        case _:
            return f":material/error: {who} failed.{reason}"


def summary(known: Iterable[Run]) -> str:
    """One line on what has been trained."""
    runs = [run for run in known if run.state == "completed"]
    settings = sum(run.job.replicas() for run in runs)
    seconds = sum(run.seconds or 0.0 for run in runs)
    lost = sum(len(run.diverged) for run in runs)
    ships = [run for run in runs if run.shipped]
    whole = len(ships) == len(runs) > 0
    icon = f"{SHIPPED} {tr('Shipped with the app:')}" if whole else ":material/check_circle:"
    text = tr("{icon} {methods}, {repetitions} computed in {time}").format(
        icon=icon, methods=words.plural(len(runs), "method"),
        repetitions=words.plural(settings, "repetition"), time=words.duration(seconds),
    )  # fmt: skip
    if whole:
        text += tr(" on {day}").format(day=day(max(run.finished or 0.0 for run in ships)))
    elif ships:
        text += f"; {words.plural(len(ships), 'method')} shipped with the app"
    return text + (
        f"; {words.plural(lost, 'repetition')} diverged and are left out" if lost else ""
    )


def day(at: float) -> str:
    """The day of a Unix time: "21 Nov 2026"."""
    return format_date(datetime.fromtimestamp(at, UTC).date(), "d MMM y", language())
