"""Every person fitted by every model, in parts that are kept as they are done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import NamedTuple

from corrbandits._core.single_thread import one_thread
from corrbandits._shell.progress import bar
from corrbandits.choices import Model, Person
from corrbandits.fits.outcomes import Outcome, Outcomes, digest, fitted


class Part(NamedTuple):
    """One person under one model."""

    person: Person
    name: str
    model: Model
    digest: str


def run(
    people: Sequence[Person],
    models: Mapping[str, Model],
    outcomes: Outcomes,
    *,
    threads: int = 1,
    leave_out: bool = True,
    progress: bool | None = None,
) -> list[Outcome]:
    """Return what is found of all people under all models; what is not known yet is fitted and kept.

    With `leave_out` every round is foreseen from the others too, which takes as many fits again as there are rounds.
    The order is that of models, then people. On Ctrl-C what is done stays.
    """
    known = outcomes.known()
    parts = [
        Part(person, name, model, digest(person, model, leave_out=leave_out))
        for name, model in models.items()
        for person in people
    ]
    todo = [part for part in parts if part.digest not in known]
    before = len(parts) - len(todo)
    with one_thread(), bar(len(parts), progress, "fitting", before=before) as show:
        for done, outcome in enumerate(_fitted(todo, threads, leave_out=leave_out), before + 1):
            outcomes.add(outcome)
            known[outcome.digest] = outcome
            show(done)
    return [known[part.digest]._replace(model=part.name) for part in parts]


def _fitted(todo: Sequence[Part], threads: int, *, leave_out: bool) -> Iterator[Outcome]:
    """Yield outcomes as they are done."""
    with ThreadPoolExecutor(threads) as pool:
        try:
            waiting: set[Future[Outcome]] = {
                pool.submit(fitted, part.person, part.name, part.model, leave_out=leave_out) for part in todo
            }
            while waiting:
                finished, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
                done_first = sorted(finished, key=lambda future: future.exception() is not None)
                yield from (future.result() for future in done_first)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
