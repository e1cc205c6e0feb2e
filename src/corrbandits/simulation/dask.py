"""Batches played by a Dask cluster.

The simulation travels once, in the graph: a worker that dies takes nothing with it that the scheduler could not make
again elsewhere.
"""

from __future__ import annotations

import logging
import pickle
import threading
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import astuple
from importlib.metadata import version
from typing import Any, final

from corrbandits.simulation import batches
from corrbandits.simulation.batches import Batch, Ensemble
from corrbandits.simulation.engines import Recorded

LOG = logging.getLogger("corrbandits")
PATIENCE_SECONDS = 10
LOOK_SECONDS = 1.0
"""How often the workers are counted."""

AHEAD = 2
"""Batches that are with the cluster, per thread of its workers: of those that a dying worker held, each is suspect."""


def is_client(thing: Any) -> bool:
    """Return whether this is a Dask client, without loading Dask."""
    return type(thing).__module__.partition(".")[0] == "distributed" and hasattr(thing, "submit")


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Yield a client of the scheduler at an address such as tcp://127.0.0.1:8786; from then on Dask logs nothing.

    Nor do the libraries whose event loop it runs on: a heartbeat that finds its connection closed is an error to them.
    This is for the command line, which says in one message what went wrong.
    """
    try:
        import distributed
    except ImportError as error:
        raise ModuleNotFoundError(
            f"work on a cluster needs Dask, which cannot be loaded here ({error}). "
            "Install it, in a clone of the repository: pip install '.[distributed]'"
        ) from error
    _refuse_unlike_an_address(address)
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        client: Any = distributed.Client(address, timeout=PATIENCE_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ConnectionError(
            f"a Dask scheduler must be at {address}, but none answers there ({error or type(error).__name__}). Start "
            "one with `dask scheduler`, or give the address that it prints, such as tcp://127.0.0.1:8786."
        ) from error
    with client:
        yield client


def _refuse_unlike_an_address(address: str) -> None:
    """Refuse what Dask would puzzle over for long."""
    protocol, found, place = address.rpartition("://")
    host, _, port = place.rpartition(":")
    if not (host and port.isdecimal() and (protocol.isalpha() or not found)):
        raise ValueError(
            f"a Dask scheduler's address must be like tcp://127.0.0.1:8786, got {address!r:.80}. "
            "Give the address that `dask scheduler` prints."
        )


def results(client: Any, simulation: Ensemble, work: list[Batch]) -> Iterator[tuple[Batch, Recorded]]:
    """Yield every batch with its arrays as workers finish them; what is left at an error or Ctrl-C is cancelled.

    Dask gives up a batch that several dying workers held, whether or not it killed them. Such a batch is played again
    with nothing beside it, and only if it then is given up once more, it is held to blame.
    """
    from distributed import KilledWorker, as_completed
    from distributed.comm import CommClosedError

    if not client.nthreads():
        warnings.warn("the Dask cluster has no workers yet; waiting for the first.", RuntimeWarning, stacklevel=2)
    waiting, suspects = deque(work), deque[Batch]()
    there, done = _There(client, simulation), as_completed(loop=client.loop)
    over = threading.Event()
    threading.Thread(target=_watch, args=(client, over), name="corrbandits-watch", daemon=True).start()
    try:
        while waiting or suspects or there.held:
            if suspects and not there.held:
                done.add(there.submit(suspects[0]))
            while waiting and not suspects and len(there.held) < there.room():
                done.add(there.submit(waiting.popleft()))
            future = next(done)
            batch = there.held.pop(future)
            try:
                found = future.result()
            except KilledWorker as error:
                if suspects and batch == suspects[0]:
                    raise _blamed(simulation, error) from error
                suspects.append(batch)
                continue
            finally:
                future.release()  # and with it the arrays on the worker
            if suspects and batch == suspects[0]:
                suspects.popleft()
            yield found
    except (CancelledError, CommClosedError) as error:
        raise ConnectionError(
            "the Dask scheduler must stay until all runs are played, but the connection to it is lost "
            f"({type(error).__name__}). Start it again, and see its log for what ended it."
        ) from error
    finally:
        over.set()
        with suppress(CancelledError, OSError):  # whoever is gone needs not be told
            there.cancel()


def _watch(client: Any, over: threading.Event) -> None:
    """Until the work is over, ask the scheduler for a sign of life, and say when it gives none, and when it does again.

    A scheduler that is frozen, or whose machine is, keeps its connections: nobody else would notice for minutes.
    """
    silent = False
    while not over.wait(LOOK_SECONDS):
        try:
            client.sync(client.scheduler.identity, callback_timeout=PATIENCE_SECONDS)
        except TimeoutError:
            if not silent and not over.is_set():
                LOG.warning(
                    "the Dask scheduler must answer, but %s has not for %s s: it is frozen, or its machine or the "
                    "network is. Waiting for it; Ctrl-C stops.",
                    client.scheduler.address,
                    PATIENCE_SECONDS,
                )
            silent = True
        except Exception:  # it is gone: whoever waits for its results is told by Dask
            return
        else:
            if silent:
                LOG.warning("the Dask scheduler answers again.")
            silent = False


@final
class _There:
    """The simulation and some batches on a cluster."""

    def __init__(self, client: Any, simulation: Ensemble) -> None:
        import cloudpickle  # also takes policies that are defined in a notebook

        self.held: dict[Any, Batch] = {}
        self._client, self._content = client, cloudpickle.dumps(simulation)
        self._run, self._name = of_version(version("corrbandits")), f"corrbandits-{uuid.uuid4()}"
        self._submitted, self._room, self._looked = 0, AHEAD, float("-inf")
        self._simulation: Any = None

    def submit(self, batch: Batch) -> Any:
        """Have a batch played."""
        if self._simulation is None or self._simulation.status == "error":  # then workers died while they had it
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sending large graph")  # a prior of many arms is large, and goes once
                self._simulation = self._client.submit(self._run, "loaded", self._content, key=self._key("simulation"))
        key = self._key(f"{batch.player}-{batch.first}")
        future = self._client.submit(self._run, "run_batch", astuple(batch), self._simulation, key=key)
        self.held[future] = batch
        return future

    def room(self) -> int:
        """Return how many batches are to be there at once; workers may come and go."""
        if time.monotonic() - self._looked > LOOK_SECONDS:
            with suppress(OSError):  # a scheduler that is gone is noticed by what it has
                self._room = AHEAD * max(1, sum(self._client.nthreads().values()))
            self._looked = time.monotonic()
        return self._room

    def cancel(self) -> None:
        """Leave nothing there."""
        self._client.cancel([*self.held, *([] if self._simulation is None else [self._simulation])])

    def _key(self, what: str) -> str:
        self._submitted += 1
        return f"{self._name}-{what}-{self._submitted}"


def _blamed(simulation: Ensemble, error: Any) -> OSError:
    less = ", or keep less: record='summary'" if simulation.times is None else ""
    return OSError(
        f"several workers died over the same runs, which they played alone ({error.last_worker.address} was the last), "
        "most likely for want of memory. Give workers more of it (dask worker --memory-limit) or fewer threads "
        f"(--nthreads){less}."
    )


def of_version(wanted: str) -> Callable[..., Any]:
    """Return a function that calls another of this module, by name, on a worker that has this version of corrbandits.

    It travels as code and takes plain values: another version may have neither this module nor these classes, and
    should be refused because of its version.
    """

    def run(name: str, *arguments: Any) -> Any:
        from importlib import import_module
        from importlib.metadata import version
        from socket import gethostname

        if (here := version("corrbandits")) != wanted:
            raise ValueError(
                f"every worker must have corrbandits {wanted}, as the machine that asks, but one on {gethostname()} "
                f"has {here}. Install the same version there."
            )
        return getattr(import_module("corrbandits.simulation.dask"), name)(*arguments)

    return run


def loaded(content: bytes) -> Ensemble:
    """Return the simulation as it was sent."""
    simulation: Ensemble = pickle.loads(content)
    return simulation


def run_batch(batch: tuple[int, ...], simulation: Ensemble) -> tuple[Batch, Recorded]:
    """Return a batch with its arrays."""
    return batches.run_batch(simulation, Batch(*batch))
