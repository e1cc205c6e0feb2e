"""Who plays the batches: threads of this process, or whatever has `map`."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np

from corrbandits._shell.progress import bar
from corrbandits.simulation import batches, dask
from corrbandits.simulation.batches import Batch, Ensemble
from corrbandits.simulation.checkpoint import Checkpoint, forms
from corrbandits.simulation.engines import Recorded

LOG = logging.getLogger("corrbandits")

Work = Generator[tuple[list[Batch], int], None, None]
"""Batches that have just been finished, and how many steps have been made by then."""


def complete(
    ensemble: Ensemble,
    work: list[Batch],
    recorded: Recorded,
    by: Callable[[Ensemble, list[Batch], Recorded], Work],
    saved: Checkpoint | None,
    progress: bool | None,
) -> None:
    """Fill `recorded` with all the work: loaded if it is saved, otherwise played, and saved as soon as it is done."""
    left = [batch for batch in work if saved is None or not saved.load(batch, batches.part(recorded, batch))]
    runs = batches.runs_in(work)
    before = (runs - batches.runs_in(left)) * ensemble.horizon
    if saved is not None and before:
        LOG.info(saved.resumed(runs))
    try:
        with (
            bar(runs * ensemble.horizon, progress, before=before) as show,
            closing(by(ensemble, left, recorded)) as done,
        ):
            for finished, steps in done:
                if saved is not None:
                    for batch in finished:
                        saved.save(batch, batches.part(recorded, batch))
                show(before + steps)
    except BaseException as error:
        if saved is not None:
            error.add_note(saved.state(runs))
        raise


class _Stopped(Exception):  # noqa: N818  not an error: the run was asked to end
    """Ends a run whose result nobody waits for."""


def in_threads(ensemble: Ensemble, work: list[Batch], recorded: Recorded, *, threads: int) -> Work:
    """Play in threads of this process; on Ctrl-C or an error all stop at their next look."""
    stopped, steps = threading.Event(), np.zeros(len(work), dtype=np.int64)

    def run_one(number: int) -> Batch:
        def advanced(more: int) -> None:
            steps[number] += more
            if stopped.is_set():
                raise _Stopped

        ensemble.play(work[number], batches.part(recorded, work[number]), advanced)
        return work[number]

    with ThreadPoolExecutor(threads) as pool:
        try:
            waiting = {pool.submit(run_one, number) for number in range(len(work))}
            while waiting:
                finished, waiting = wait(waiting, timeout=0.1, return_when=FIRST_EXCEPTION)
                yield [future.result() for future in finished], int(steps.sum())
        except BaseException:
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise


def elsewhere(ensemble: Ensemble, work: list[Batch], recorded: Recorded, *, way: Any) -> Work:
    """Play by a function like `map`, or by what has one: a pool, an executor, a Dask client."""
    waiting = set(work)
    for result in _results(mapping(way)(ensemble, work) if work else ()):
        batch, found = _understood(result, waiting)
        rows = batches.part(recorded, batch)
        _refuse_other_arrays(found, rows)
        for name, of_batch in rows.items():
            of_batch[...] = found[name]
        waiting.remove(batch)
        yield [batch], (batches.runs_in(work) - batches.runs_in(waiting)) * ensemble.horizon
    if waiting:
        raise ValueError(
            f"map must give a result for each of {len(work)} items, but {len(waiting)} are missing. Pass a function "
            "that behaves like the built-in map."
        )


def mapping(way: Any) -> Callable[[Ensemble, list[Batch]], Iterable[Any]]:
    """Return a function that has batches played and gives the results, each as soon as it is there if `way` can."""
    owner = getattr(way, "__self__", way)  # of pool.map, the pool
    if dask.is_client(owner):
        return partial(dask.results, owner)
    mapped = getattr(owner, "imap_unordered", None) or (way if callable(way) else getattr(way, "map", None))
    if not callable(mapped):
        raise TypeError(
            "map must be a function like the built-in map, or have one (a pool, an executor, a Dask client), got "
            f"{way!r:.60}."
        )
    return lambda ensemble, work: mapped(partial(batches.run_batch, ensemble), work)


LIKE_MAP = "Pass a function that behaves like the built-in map, or the pool, executor or Dask client itself."


def _results(given: Any) -> Iterable[Any]:
    if isinstance(given, Iterable):
        return given
    raise TypeError(f"map must give the results one after the other, got {given!r:.60}. {LIKE_MAP}")


def _understood(result: Any, waiting: set[Batch]) -> tuple[Batch, Any]:
    if isinstance(result, tuple) and len(result) == 2 and isinstance(result[0], Batch) and result[0] in waiting:
        return result
    raise TypeError(f"map must give what the function returned, each result once, got {result!r:.60}. {LIKE_MAP}")


def _refuse_other_arrays(found: Any, expected: Recorded) -> None:
    if not isinstance(found, dict) or not all(isinstance(array, np.ndarray) for array in found.values()):
        raise TypeError(
            f"map must give what the function returned, which holds arrays called {', '.join(expected)}, got "
            f"{found!r:.60} instead. {LIKE_MAP}"
        )
    if (here := forms(found)) != (wanted := forms(expected)):
        raise ValueError(f"map must give what the function returned, arrays {wanted}, got {here}. {LIKE_MAP}")
