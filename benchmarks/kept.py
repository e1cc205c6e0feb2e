"""Rows that are made one after the other, or by several processes at once, and kept as soon as they are made."""

from __future__ import annotations

import csv
import io
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from benchmarks.threads import ONE_THREAD
from corrbandits._shell.appended import append, whole_lines
from corrbandits._shell.progress import bar

ENDED = (
    "A process was ended by something else, as happens where memory is short. What was made is kept: the same command "
    "goes on from there, perhaps with fewer --jobs."
)


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
    each = map(made, work) if jobs == 1 else results(made, work, jobs)
    with bar(len(work), label=label) as show:
        for done, rows in enumerate(each, start=1):
            append(place, _lines(rows), _lines([header]))
            show(done)


def results(made: Callable[[Any], Any], work: Sequence[Any], jobs: int, begin: Callable[[], None] | None = None) -> Any:
    """Yield what is made of each piece of work by so many processes, each as soon as it is there.

    They end with whoever waits for them. `begin` is called first in each.
    """
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin, (begin,)) as pool:
        try:
            for future in as_completed([pool.submit(made, one) for one in work]):
                yield future.result()
        except BaseException as error:
            for child in multiprocessing.active_children():
                child.terminate()
            pool.shutdown(wait=False, cancel_futures=True)
            if isinstance(error, BrokenProcessPool):
                raise SystemExit(ENDED) from error
            raise


def read(place: Path, header: Sequence[str]) -> list[list[str]]:
    """Return the rows of a file that were written whole; none if there is no file."""
    first, *rows = csv.reader(io.StringIO(whole_lines(place) or _lines([header])))
    if first != [*header]:
        raise ValueError(f"{place} must have the columns {', '.join(header)}, got {', '.join(first)!r:.80}.")
    for line, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise ValueError(
                f"{place}, line {line} must have {', '.join(header)}, got {','.join(row)!r:.80}. Remove it."
            )
    return rows


def _begin(begin: Callable[[], None] | None) -> None:
    """Leave Ctrl-C to the process that started this one, and end with it, also where it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(multiprocessing.parent_process(),), daemon=True).start()
    if begin is not None:
        begin()


def _end_with(process: Any) -> None:
    process.join()
    os._exit(1)  # nobody waits for what would be made


def _lines(rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
