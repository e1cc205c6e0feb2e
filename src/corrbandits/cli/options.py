"""What several groups of commands share: options, the names of result files, and what Ctrl-C says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

Out = Annotated[Path, typer.Option(help="Directory the results go into.", file_okay=False)]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all randomness.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads; as many as cores if left out.")]


def result_name(experiment: Path) -> str:
    """Return the name of the results of an experiment file.

    >>> result_name(Path("plots/my.v1.toml"))
    'my.v1'
    """
    return experiment.name.removesuffix(".toml") or experiment.name


@contextmanager
def saying_what_is_saved(checkpoint: Path | None) -> Iterator[None]:
    """On Ctrl-C, see to it that what the checkpoint holds is said, if there is one."""
    try:
        yield
    except KeyboardInterrupt as stop:
        if checkpoint is not None and not hasattr(stop, "__notes__"):
            stop.add_note(f"What was done is saved in {checkpoint}. Run the same again, and it goes on from there.")
        raise
