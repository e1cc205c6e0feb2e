"""Which modules of the package run when a reward is told: from Python, and from the shell.

    python docs/counts/tell.py

A module runs if a function of it does, while the call lasts (from Python) or while the whole program does (from the
shell). The trial is given by its number in both. What happens only because a module is imported, the bodies of
modules and of classes, does not count.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

PACKAGE = "corrbandits"


def modules_executed_by_tell() -> dict[str, list[str]]:
    """Return the modules that run, in alphabetical order: `python` for `study.tell`, `shell` for the command."""
    with tempfile.TemporaryDirectory() as directory:
        database = str(Path(directory) / "survey.db")
        return {"python": _from_python(database), "shell": _from_shell(database)}


def executed(work: Callable[[], Any]) -> list[str]:
    """Return the modules of the package whose functions run while some work is done, in alphabetical order."""
    found: set[str] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and (function := function_of(frame)) is not None:
            found.add(function[0])

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return sorted(found)


def function_of(frame: FrameType) -> tuple[str, str] | None:
    """Return the module of the package that a frame runs in, and its function there; None if it is no function of it.

    The bodies of modules and of classes are not, nor the comprehensions in them, nor what `dataclass` makes.
    """
    code, module = frame.f_code, str(frame.f_globals.get("__name__"))
    anonymous = code.co_name.startswith("<") or not code.co_flags & inspect.CO_OPTIMIZED
    if anonymous or module.split(".")[0] != PACKAGE or Path(code.co_filename).suffix != ".py":
        return None
    return module, code.co_qualname


def _from_python(database: str) -> list[str]:
    import corrbandits as cb

    prior = cb.Correlated(mean=30.0, kernel=10 * cb.Exponential(2.0), coordinates=range(5), noise_variance=4.0)
    with cb.Study.create(database, "meadow", prior=prior, policy=cb.UCL()) as study:
        first, second = study.ask(2)
        study.tell(first, 31.0)
        return executed(lambda: study.tell(second.number, 32.0))


def _from_shell(database: str) -> list[str]:
    """Return what a new process says: what runs in this one depends on what it has loaded already."""
    line = ["study", "tell", "meadow", "2", "32.0", "--db", database]
    done = subprocess.run([sys.executable, __file__, *line], capture_output=True, text=True, check=True)
    return done.stdout.split()


def _traced_program(arguments: list[str]) -> None:
    """Run the command line with these arguments, and print the modules that run."""

    def program() -> None:
        from corrbandits.cli.entry import main

        sys.argv = ["corrbandits", *arguments]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            main()

    sys.stdout.write("\n".join(executed(program)))


if __name__ == "__main__":
    if sys.argv[1:]:
        _traced_program(sys.argv[1:])
    else:
        for where, modules in modules_executed_by_tell().items():
            sys.stdout.write("\n  ".join([f"{where}: {len(modules)}", *modules]) + "\n")
