"""What a durable study costs: ask and tell against Optuna, early and late, and opening a long one.

    python -m benchmarks.studies [--quick] [--out docs]

All databases lie in one directory, on the disk that holds the system's temporary files unless --on names another. The
contestants take turns, trial by trial, and each one's median is kept. An acknowledged tell is on the disk with every
one of them: SQLite syncs at each commit. The command that tells a reward takes turns with a process that only imports
the libraries it needs; of these the fastest is kept, since whatever else a machine does only adds to a process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import DOCS, duration, marked, number
from benchmarks.timing import Missing, load, machine, tell
from corrbandits import CorrelatedUCL, Journal, Study
from corrbandits.belief import Correlated
from corrbandits.environments import landscapes
from corrbandits.kernels import Exponential

OURS, EARLY, LATE, OPENING = "corrbandits", "after 500 events", "after 50,000 events", "opening 100,000 events"
RDB, FILE = "Optuna, random sampler, SQLite", "Optuna, random sampler, journal file"
LIBRARIES, COMMAND = "import numpy, sqlalchemy: fastest process", "corrbandits study tell: fastest process"
PAGE, DATA = "ask-and-tell.md", "ask-and-tell.json"
Turn = Callable[[], None]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few trials, to see that everything works")
    parser.add_argument("--on", type=Path, metavar="DIRECTORY", help="where the databases lie while it runs")
    parser.add_argument("--out", type=Path, metavar="DIRECTORY", help="write data and page, such as to docs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.on) as directory:
        data = measured(Path(directory), trials=20 if options.quick else 400, share=0.01 if options.quick else 1.0)
    print(table(data))
    if options.out:
        (options.out / DATA).write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        text = (DOCS / PAGE).read_text(encoding="utf-8")
        (options.out / PAGE).write_text(page(text, data), encoding="utf-8")


def measured(directory: Path, *, trials: int, share: float) -> dict[str, Any]:
    """Return medians and what is compared; `share` makes the long studies shorter."""
    before = load()
    tell("ask and tell")
    with optunas(directory) as theirs:
        peers = contest({OURS: ours(directory, "new", 0)} | theirs, trials)
    tell("early and late")
    events = {EARLY: 500, LATE: round(50_000 * share)}
    grown = contest({name: ours(directory, name, number) for name, number in events.items()}, trials)
    tell("opening")
    opened = opening(directory, round(100_000 * share))
    rows = [row(name, seconds, ratio=seconds / peers[OURS]) for name, seconds in peers.items()]
    for one in rows:
        if one["what"] == RDB:
            one |= {"target": "≥ 2 × ours", "met": one["ratio"] >= 2}
    late = grown[LATE] / grown[EARLY]
    rows += [row(EARLY, grown[EARLY]), row(LATE, grown[LATE], late, "≤ 1.05 × after 500", late <= 1.05)]
    rows.append(row(OPENING, opened, target="< 2 s", met=opened < 2))
    tell("the command")
    fastest = processes(directory, 25 if share == 1.0 else 2)
    ratio = fastest[COMMAND] / fastest[LIBRARIES]
    rows.append(row(LIBRARIES, fastest[LIBRARIES]))
    rows.append(row(COMMAND, fastest[COMMAND], ratio, "≤ 1.6 × the import", ratio <= 1.6))
    on = machine()
    on["versions"] = {name: on["versions"].get(name, "not installed") for name in ("corrbandits", "numpy", "optuna")}
    return {"machine": on, "load": [before, load()], "trials": trials, "rows": rows}


def row(
    what: str, seconds: float, ratio: float | None = None, target: str = "", met: bool | None = None
) -> dict[str, Any]:
    return {"what": what, "seconds": seconds, "ratio": ratio, "target": target, "met": met}


def contest(turns: Mapping[str, Turn | Missing], trials: int) -> dict[str, float]:
    """Return each one's median seconds of a trial; they take turns trial by trial."""
    present = {name: turn for name, turn in turns.items() if not isinstance(turn, Missing)}
    times: dict[str, list[float]] = {name: [] for name in present}
    for k in range(trials + 5):  # the first ones warm up
        for name, turn in present.items():
            begun = time.perf_counter()
            turn()
            if k >= 5:
                times[name].append(time.perf_counter() - begun)
    return {name: float(np.median(taken)) for name, taken in times.items()}


def ours(directory: Path, name: str, events: int, **begun: Any) -> Turn:
    """Return a turn of ours, asking and telling in a study that has so many events already; see `filled`."""
    surface = landscapes.two_peaks()
    study = filled(directory, name, events, **begun)
    rng = np.random.default_rng(0)

    def turn() -> None:
        trial = study.ask()
        study.tell(trial, surface.reward(trial.arm, rng.standard_normal()))

    return turn


def filled(directory: Path, name: str, events: int, **begun: Any) -> Study:
    """Return a study of 100 correlated arms with so many events, every arm tried equally often.

    What it begins with may be something else: the arguments of `Study.create`.
    """
    url, surface = f"sqlite:///{directory}/{name}.db", landscapes.two_peaks()
    if not begun:
        kernel, where = 10 * Exponential(3.0), surface.coordinates
        prior = Correlated(mean=30.0, kernel=kernel, coordinates=where, noise_variance=10.0)
        begun = {"prior": prior, "policy": CorrelatedUCL(a=3.3)}
    Study.create(url, name, **begun).close()
    rng, journal = np.random.default_rng(1), Journal(url)
    bodies = []
    for trial in range(1, events // 2 + 1):
        reward = surface.reward(trial % surface.arms, rng.standard_normal())
        asked = {"event": "asked", "trial": trial, "arm": trial % surface.arms, "key": f"{trial:016x}"}
        told = {"event": "told", "trial": trial, "reward": reward}
        bodies += [json.dumps(event | {"at": 1.75e9 + trial}) for event in (asked, told)]
    if bodies:
        journal.append(journal.studies()[name], 2, bodies)
    journal.close()
    return Study.open(url, name)


def opening(directory: Path, events: int) -> float:
    """Return the median seconds of opening a study of so many events, in a process that has imported the package."""
    filled(directory, OPENING, events).close()
    times = []
    for _ in range(7):
        begun = time.perf_counter()
        with Study.open(f"sqlite:///{directory}/{OPENING}.db", OPENING) as study:
            assert len(study.open_trials) == 0
        times.append(time.perf_counter() - begun)
    return float(np.median(times))


def processes(directory: Path, turns: int) -> dict[str, float]:
    """Return the least seconds of a process that imports two libraries, and of one that tells a reward."""
    with filled(directory, "command", 500) as study:
        number = study.ask().number
    url = f"sqlite:///{directory}/command.db"
    program = [sys.executable, "-m", "corrbandits.cli.entry", "study", "tell", "command", str(number), "31.5"]
    commands = {LIBRARIES: [sys.executable, "-c", "import numpy, sqlalchemy"], COMMAND: program}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(turns + 1):  # the first ones warm up: modules are compiled
        for name, command in commands.items():
            begun = time.perf_counter()
            subprocess.run(command, env=os.environ | {"CORRBANDITS_DB": url}, check=True, capture_output=True)
            times[name].append(time.perf_counter() - begun)
    return {name: min(taken[1:]) for name, taken in times.items()}


@contextmanager
def optunas(directory: Path) -> Iterator[dict[str, Turn | Missing]]:
    """Yield Optuna's turns: its random sampler over a categorical parameter of 100 choices, on both its storages."""
    try:
        import optuna
        from optuna.storages.journal import JournalFileBackend
    except ImportError as error:
        yield {RDB: Missing(RDB, f"not installed: {error}")}
        return
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    database = optuna.storages.RDBStorage(f"sqlite:///{directory}/optuna.db")
    file = optuna.storages.JournalStorage(JournalFileBackend(f"{directory}/optuna.log"))
    try:
        yield {RDB: _optuna(optuna, database), FILE: _optuna(optuna, file)}
    finally:  # Optuna leaves its connections open
        database.remove_session()
        database.engine.dispose()


def _optuna(optuna: Any, storage: Any) -> Turn:
    study = optuna.create_study(storage=storage, sampler=optuna.samplers.RandomSampler(seed=0), direction="maximize")
    surface, rng, arms = landscapes.two_peaks(), np.random.default_rng(0), list(range(100))

    def turn() -> None:
        trial = study.ask()
        arm = trial.suggest_categorical("arm", arms)
        study.tell(trial, surface.reward(arm, rng.standard_normal()))

    return turn


def table(data: dict[str, Any], what: str = "what, 100 arms") -> str:
    """Return what was measured as a table in Markdown."""
    lines = [f"| {what} | median | ratio | target | met |", "|---|--:|--:|---|---|"]
    for one in data["rows"]:
        ratio = "" if one["ratio"] is None else number(one["ratio"])
        met = "" if one["met"] is None else "yes" if one["met"] else "no"
        lines.append(f"| {one['what']} | {duration(one['seconds'])} | {ratio} | {one['target']} | {met} |")
    on = data["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in on["versions"].items())
    measured = f"Medians of {data['trials']} trials, taken in turns, on {on['processor']}, {on['cores']} cores; load "
    return "\n".join([*lines, "", f"{measured}{data['load'][0]} before, {data['load'][1]} after; with {versions}."])


def page(text: str, data: dict[str, Any]) -> str:
    """Return the documentation's page with its table made anew."""
    return marked(text, "speed", table(data))


if __name__ == "__main__":
    main()
