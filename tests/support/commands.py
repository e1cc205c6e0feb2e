"""Functions and commands in this process or in one that has imported everything: where starting is not the point."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from corrbandits.cli import entry
from tests.support.databases import NEWLY
from tests.support.experiment_files import nine_arms

PROGRAM = Path(sys.executable).parent / "corrbandits"
"""The program itself, for tests of how it starts, is interrupted or writes to its terminal."""

SMALL = nine_arms(variance=4.0, horizon=60, runs=7)


def alone(function: Callable[..., Any], *arguments: object) -> Any:
    """Return what a function of a test's file returns in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=NEWLY) as process:
        return process.submit(function, *arguments).result()


PAUSED = """
import sys, time
from corrbandits.cli.entry import main
from corrbandits.simulation.checkpoint import Checkpoint
save = Checkpoint.save
def save_and_wait(self, *batch):
    save(self, *batch)
    time.sleep(300)
Checkpoint.save = save_and_wait
main()
"""


@contextmanager
def waiting_after_one_batch(*arguments: object, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """Yield the program once it has saved one batch: it waits there to be interrupted, and is killed in the end."""
    words = [sys.executable, "-c", PAUSED, *map(str, arguments)]
    with subprocess.Popen(words, cwd=cwd, stderr=subprocess.PIPE, text=True) as begun:
        try:
            while begun.poll() is None and not list(cwd.glob("saved/*.npz")):
                time.sleep(0.01)
            yield begun
        finally:
            begun.kill()


def corrbandits(
    *arguments: object, cwd: Path, env: Mapping[str, str] | None = None, timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """Return what the command line does with these arguments, as `subprocess.run` would with its output captured."""
    words = [str(argument) for argument in arguments]
    with tempfile.TemporaryDirectory() as said:
        files = [Path(said) / name for name in ("stdout", "stderr")]
        process = NEWLY.Process(target=_main, args=(words, cwd, dict(os.environ if env is None else env), files))
        process.start()
        process.join(timeout)
        if process.is_alive():
            process.kill()
            process.join()
        printed = [file.read_text(encoding="utf-8") for file in files]
    return subprocess.CompletedProcess(["corrbandits", *words], process.exitcode, *printed)


def _main(arguments: list[str], directory: Path, environment: dict[str, str], files: list[Path]) -> None:
    """Become a process as a shell would start it, and run the command."""
    from corrbandits.cli.entry import main

    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    for descriptor, file in enumerate(files, start=1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), descriptor)
    sys.argv = ["corrbandits", *arguments]
    main()


def here(monkeypatch, *arguments):
    """Run the program in this process; return its exit code."""
    monkeypatch.setattr(sys, "argv", ["corrbandits", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        entry.main()
    return stop.value.code


def contents(directory):
    """Return the bytes of every file in a directory, by name."""
    return {path.name: path.read_bytes() for path in directory.iterdir()}
