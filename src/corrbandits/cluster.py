"""Batches played by a Dask cluster.

The problem travels once, in the graph: a worker that dies takes nothing with it that the scheduler could not make
again elsewhere.
"""

from __future__ import annotations

import pickle
import uuid
import warnings
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from importlib.metadata import version
from typing import Any

from corrbandits import ensemble
from corrbandits.ensemble import Batch, Kept, Problem

PATIENCE_SECONDS = 10


def is_client(thing: Any) -> bool:
    """Return whether this is a Dask client, without loading Dask."""
    return type(thing).__module__.partition(".")[0] == "distributed" and hasattr(thing, "submit")


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Yield a client of the scheduler at an address such as tcp://127.0.0.1:8786."""
    try:
        import distributed
    except ImportError as error:
        raise ModuleNotFoundError(
            f"work on a cluster needs Dask, which cannot be loaded here ({error}). "
            "Install it: pip install 'corrbandits[distributed]'"
        ) from error
    try:
        client: Any = distributed.Client(address, timeout=PATIENCE_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ConnectionError(
            f"a Dask scheduler must be at {address}, but none answers there ({error or type(error).__name__}). Start "
            "one with `dask scheduler`, or give the address that it prints, such as tcp://127.0.0.1:8786."
        ) from error
    with client:
        yield client


def results(client: Any, problem: Problem, work: list[Batch]) -> Iterator[tuple[Batch, Kept]]:
    """Yield every batch with its arrays as workers finish them; what is left at an error or Ctrl-C is cancelled."""
    from distributed import KilledWorker, as_completed
    from distributed.comm import CommClosedError

    if not client.nthreads():
        warnings.warn("the Dask cluster has no workers yet; waiting for the first.", RuntimeWarning, stacklevel=2)
    left = set(_submitted(client, problem, work))
    try:
        for future in as_completed(left, loop=client.loop):
            yield future.result()
            left.remove(future)
            future.release()  # and with it the arrays on the worker
    except KilledWorker as error:
        raise OSError(
            f"several workers died over the same runs ({error.last_worker.address} was the last), most likely for "
            "want of memory. Give workers more of it (dask worker --memory-limit), or keep less: record='summary'."
        ) from error
    except (CancelledError, CommClosedError) as error:
        raise ConnectionError(
            "the Dask scheduler must stay until all runs are played, but the connection to it is lost "
            f"({type(error).__name__}). Start it again, and see its log for what ended it."
        ) from error
    finally:
        with suppress(CancelledError, OSError):  # whoever is gone needs not be told
            client.cancel(list(left))


def _submitted(client: Any, problem: Problem, work: list[Batch]) -> list[Any]:
    import cloudpickle  # also takes policies that are defined in a notebook

    mine, name = version("corrbandits"), f"corrbandits-{uuid.uuid4()}"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")  # a prior of many arms is large, and goes once
        there = client.submit(_problem, cloudpickle.dumps(problem), mine, key=f"{name}-problem")
        keys = [f"{name}-{batch.player}-{batch.first}" for batch in work]
        submitted: list[Any] = client.map(_play, work, problem=there, version=mine, key=keys)
    return submitted


def _problem(content: bytes, wanted: str) -> Problem:
    _refuse_another_version(wanted)
    problem: Problem = pickle.loads(content)
    return problem


def _play(batch: Batch, problem: Problem, version: str) -> tuple[Batch, Kept]:
    _refuse_another_version(version)
    return ensemble.played(problem, batch)


def _refuse_another_version(wanted: str) -> None:
    if (here := version("corrbandits")) != wanted:
        from socket import gethostname

        raise ValueError(
            f"every worker must have corrbandits {wanted}, as the machine that asks, but one on {gethostname()} has "
            f"{here}. Install the same version there."
        )
