"""Rows that are made one after the other, or by several processes at once, and kept as soon as they are made."""

from __future__ import annotations

import csv
import io
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.threads import ONE_THREAD
from corrbandits._shell.appended import append, whole_lines
from corrbandits._shell.progress import bar


def added(
    place: Path,
    header: Sequence[str],
    work: Sequence[Any],
    made: Callable[[Any], Iterable[Iterable[object]]],
    jobs: int,
    label: str = "playing",
) -> None:
    """Append to a file the rows that are made of each piece of work, those of a piece at once."""
    os.environ.update(ONE_THREAD)
    with ExitStack() as stack:
        show = stack.enter_context(bar(len(work), label=label))
        each: Iterable[Iterable[Iterable[object]]] = map(made, work)
        if jobs > 1:
            pool = stack.enter_context(multiprocessing.get_context("spawn").Pool(jobs, _quiet))
            each = pool.imap_unordered(made, work)
        for done, rows in enumerate(each, start=1):
            append(place, _lines(rows), _lines([header]))
            show(done)


def read(place: Path, header: Sequence[str]) -> list[list[str]]:
    """Return the rows of a file that were written whole; none if there is no file."""
    first, *rows = csv.reader(io.StringIO(whole_lines(place) or _lines([header])))
    if first != [*header]:
        raise ValueError(f"{place} must have the columns {', '.join(header)}, got {', '.join(first)!r:.80}.")
    return rows


def _quiet() -> None:
    """Leave Ctrl-C to the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _lines(rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
