"""`reproduce`: tables and figures of a paper, theirs beside ours."""

import argparse
import dataclasses
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engine.catalog import catalog
from engine.cli import again
from engine.cli.shared import show_json, show_table
from engine.cli.work import RunError, complete, progress
from engine.core.errors import ExplorerError, RequestError
from engine.runs import reference
from engine.runs.changes import sources
from engine.runs.exhibit import Cell, Exhibit, exhibits, written
from engine.runs.job import Job
from engine.runs.results import Results
from engine.service.client import Client

TODAY, EARLIER = "today's sources", "an earlier version"


def reproduce(arguments: argparse.Namespace) -> int:
    """Runs the exhibits' jobs, or reads them from the store, and prints their cells."""
    if arguments.write and not arguments.full:
        raise RequestError("--write: expected --full with it, a quick look is not kept")
    if arguments.changed and not arguments.write:
        raise RequestError("--changed: expected --write with it, got a look")
    lost: list[str] = []
    chosen = list(_chosen(arguments.paper, arguments.exhibit, lost))
    for said in lost:
        print(said, file=sys.stderr)
    if arguments.list:
        return _list(chosen, arguments.json)
    if arguments.exhibit:
        ((slug, exhibit),) = chosen
        record = _one(slug, exhibit, arguments)
        if arguments.json:
            show_json(record)
        return 0
    if not chosen and not lost:
        print(f"{arguments.paper}: it has no table and no figure to reproduce", file=sys.stderr)
    records = []
    for slug, exhibit in chosen:
        try:
            records.append(_one(slug, exhibit, arguments))
        except ExplorerError as error:
            lost.append(f"{slug} {exhibit.name}: {error}")
            print(lost[-1], file=sys.stderr)
    if arguments.json:
        show_json({"exhibits": records})
    return int(bool(lost))


def _list(chosen: Iterable[tuple[str, Exhibit]], as_json: bool) -> int:
    """Prints of each exhibit what ships, and by which version of the sources."""
    rows = []
    for slug, exhibit in chosen:
        try:
            rows.append((slug, exhibit.name, exhibit.title, *_ships(slug, exhibit)))
        except ExplorerError as error:
            print(f"{slug} {exhibit.name}: {error}", file=sys.stderr)
    columns = ("paper", "exhibit", "title", "date", "computed by")
    if as_json:
        show_json({"exhibits": [dict(zip(columns, row, strict=True)) for row in rows]})
    else:
        show_table("Exhibits", columns, rows)
    return 0


def _ships(slug: str, exhibit: Exhibit) -> tuple[str, str]:
    """The date of what ships of an exhibit, and what it was computed by.

    Raises:
        ExplorerError: What ships cannot be read, or the exhibit cannot be computed.
    """
    kept = reference.load(slug, exhibit.name)
    with written():
        digest = sources(*exhibit.jobs(True).values())
    if kept is None:
        return "", "nothing ships"
    return kept.date, TODAY if kept.sources == digest else EARLIER


def _chosen(slug: str | None, name: str | None, lost: list[str]) -> Iterator[tuple[str, Exhibit]]:
    """The requested exhibits, with their papers.

    Args:
        slug: A paper; None for all.
        name: An exhibit; None for all.
        lost: Where a sentence is added for each of all papers whose exhibits cannot be read.

    Raises:
        RequestError: There is no such paper or exhibit, or those of the paper cannot be read.
    """
    for one in [slug] if slug else catalog():
        try:
            known = exhibits(one)
        except RequestError as error:
            if slug:
                raise
            lost.append(str(error))
            continue
        if name and name not in known:
            raise RequestError(
                f"exhibit: expected one of {', '.join(known) or 'none, there is none yet'}, "
                f"got {name!r}"
            )
        for exhibit in known.values():
            if name in (None, exhibit.name):
                yield one, exhibit


def _one(slug: str, exhibit: Exhibit, arguments: argparse.Namespace) -> dict[str, Any]:
    """Computes one exhibit, prints or keeps it, and returns it as JSON values."""
    if arguments.changed:
        cells, seconds = _renewed(slug, exhibit)
    else:
        with written():
            jobs = exhibit.jobs(arguments.full)
        results, seconds = _results(exhibit, jobs, fresh=arguments.write)
        with written():
            cells = exhibit.cells(results)
    if arguments.write:
        digest = sources(*exhibit.jobs(True).values())
        reference.save(slug, exhibit.name, cells, full=True, seconds=seconds, sources=digest)
    if not arguments.json:
        _show(exhibit, cells)
    return {
        "paper": slug,
        "exhibit": exhibit.name,
        "title": exhibit.title,
        "caption": exhibit.caption,
        "quantity": exhibit.quantity,
        "full": arguments.full,
        "seconds": seconds,
        "cells": [{**dataclasses.asdict(cell), "ratio": cell.ratio} for cell in cells],
    }


def _renewed(slug: str, exhibit: Exhibit) -> tuple[tuple[Cell, ...], float]:
    """The shipped cells, without those that today's code computes otherwise: these are computed.

    One cell at least is compared of each method in each calibration on each data set. Where it
    differs, so do all that have a job of that kind.

    Returns:
        The cells, and the seconds of all jobs whenever they ran.

    Raises:
        RequestError: Nothing ships.
        UncheckedError: Cells of some method could not be compared.
    """
    kept = reference.load(slug, exhibit.name)
    if kept is None:
        raise RequestError(f"--changed: expected an exhibit that ships, got {exhibit.name}")
    changed: set[again.Kind] = set()
    for point, _, said in again.compared(exhibit, kept, math.inf):
        if said:
            print(f"{exhibit.title}, {said}", file=sys.stderr, flush=True)
            changed |= again.kinds(point)
    points = list(zip(exhibit.points(True), again.places(exhibit, kept), strict=True))
    new = {id(one) for one, _ in points if again.kinds(one) & changed}
    wanted = {job.id for one, _ in points if id(one) in new for job in one.jobs}
    jobs = {name: job for name, job in exhibit.jobs(True).items() if job.id in wanted}
    known = {one.run: one for one in _results(exhibit, jobs, fresh=True)[0].values()}
    cells = [
        cell
        for one, there in points
        for cell in (one.cells([known[job.id] for job in one.jobs]) if id(one) in new else there)
    ]
    return tuple(cells), kept.seconds


def _results(
    exhibit: Exhibit, jobs: Mapping[str, Job], *, fresh: bool
) -> tuple[dict[str, Results], float]:
    """What some of an exhibit's jobs came to, and how long they took when they ran.

    A job that fails, for want of its data or otherwise, leaves its cells empty and is named.
    With `fresh`, what other sources than today's have computed is computed again.

    Raises:
        RunError: None of them came to an end.
    """
    client, results, seconds, lost = Client(workers=False), {}, 0.0, []
    for number, (name, job) in enumerate(jobs.items(), 1):
        print(f"{exhibit.title}: {number} of {len(jobs)}, {name}", file=sys.stderr, flush=True)
        try:
            with progress(f"{exhibit.title}: {name}") as report:
                run, _ = complete(client, job, report)
                if fresh and run.outdated:
                    client.again(job)
                    run, _ = complete(client, job, report)
            seconds += run.seconds or 0.0
        except RunError as error:
            lost.append(f"{name}: {error}")
        results[name] = client.table(job.id)
    if lost and len(lost) == len(results):
        raise RunError("; ".join(lost))
    for sentence in lost:
        print(f"{exhibit.title}, {sentence}", file=sys.stderr)
    return results, seconds


def _show(exhibit: Exhibit, cells: tuple[Cell, ...]) -> None:
    """A row for each cell."""
    apart = any(cell.published_spread is not None for cell in cells)

    def row(cell: Cell) -> tuple[object, ...]:
        """One cell as it is printed."""
        theirs = (cell.published, cell.published_spread) if apart else (cell.published,)
        values = (*theirs, cell.ours, cell.spread)
        numbers = [
            "-" if v is None else f"{v:.2g}" if exhibit.fades(v) else f"{v:.{exhibit.digits}f}"
            for v in values
        ]
        ratio = "-" if cell.ratio is None else f"{cell.ratio:.3f}"
        return (cell.row, cell.column, cell.variant, *numbers, ratio, cell.run)

    print(f"{exhibit.title}. {exhibit.caption}")
    theirs = ("theirs", "their ±") if apart else ("theirs",)
    columns = ("row", "column", "variant", *theirs, "ours", "±", "ratio", "run")
    show_table(exhibit.quantity, columns, map(row, cells))
