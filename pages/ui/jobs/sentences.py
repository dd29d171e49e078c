"""What is said of runs: how far they are, how they ended, what has been trained."""

from collections.abc import Iterable
from datetime import UTC, datetime

from babel.dates import format_date, format_skeleton

from engine.service.client import Run
from pages.ui import words
from pages.ui.kit.access import sentence
from pages.ui.messages import SOURCE, language, tr

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
    who = words.named([f"**{label}**" for label in labels])
    match state:
        case "cancelled":
            if many and any("," in label for label in labels):
                who = words.counted(len(labels), "run")  # a list of such names cannot be read
            one = tr("{who} was stopped; what it measured is shown.")
            some = tr("{who} were stopped; what they measured is shown.")
            return f":material/stop_circle: {(some if many else one).format(who=who)}"
        case "interrupted":
            one, some = tr("{who} was interrupted."), tr("{who} were interrupted.")
            return f":material/power_off: {(some if many else one).format(who=who)}{reason}"
        case _:
            return f":material/error: {tr('{who} failed.').format(who=who)}{reason}"


def summary(known: Iterable[Run]) -> str:
    """One line on what has been trained."""
    runs = [run for run in known if run.state == "completed"]
    trainings = sum(run.job.replicas() for run in runs)
    seconds = sum(run.seconds or 0.0 for run in runs)
    lost = sum(len(run.diverged) for run in runs)
    ships = [run for run in runs if run.shipped]
    whole = len(ships) == len(runs) > 0
    icon = f"{SHIPPED} {tr('Shipped with the app:')}" if whole else ":material/check_circle:"
    text = tr("{icon} {methods}, {trainings} computed in {time}").format(
        icon=icon, methods=words.counted(len(runs), "method"),
        trainings=words.counted(trainings, "training"), time=words.lasting(seconds),
    )  # fmt: skip
    if whole:
        text += tr(" on {day}").format(day=day(max(run.finished or 0.0 for run in ships)))
    elif ships:
        methods = words.counted(len(ships), "method")
        text += tr("; {methods} shipped with the app").format(methods=methods)
    if lost:
        left = words.counted(lost, "training")
        text += tr("; {trainings} diverged and are left out").format(trainings=left)
    return text


def day(at: float) -> str:
    """The day of a Unix time as this language writes it: "21 Nov 2026"."""
    when = datetime.fromtimestamp(at, UTC).date()
    if language() == SOURCE:
        return format_date(when, "d MMM y", SOURCE)
    return format_skeleton("yMMMd", when, locale=language())
