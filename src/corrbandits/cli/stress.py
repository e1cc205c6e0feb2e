"""The command `corrbandits stress`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from corrbandits.cli.options import Out, Threads, result_name, saying_what_is_saved


def stress(
    experiment: Annotated[Path, typer.Argument(help="A TOML file; docs/stress-testing describes it.")],
    policy: Annotated[str | None, typer.Option(help="Which of its policies, if there are several.")] = None,
    out: Out = Path("results"),
    checkpoint: Annotated[
        Path | None, typer.Option(help="Directory to save what is done in, and to go on from.", file_okay=False)
    ] = None,
    threads: Threads = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of all randomness; the file's if left out.")] = None,
) -> None:
    """Say what a wrong prior would cost.

    Plays the policy with its prior's means, variance, length and drift made wrong, one at a time and in pairs. Writes
    NAME-stress.csv, .nc and .html, NAME-stress-grids and NAME-stress-curves (.png, .pdf), and prints what was found.
    After a kill or Ctrl-C the same command with the same --checkpoint goes on where it was.
    """
    from corrbandits._shell import outputs
    from corrbandits.stress import run
    from corrbandits.stress.experiment import load
    from corrbandits.stress.files import write

    described, name = load(experiment, policy), f"{result_name(experiment)}-stress"
    outputs.make_directory(out, names=[f"{name}-curves.png"])
    if seed is not None:
        described["seed"] = seed
    with saying_what_is_saved(checkpoint):
        test = run(**described, checkpoint=checkpoint, threads=threads)
        with outputs.results(out, inputs=[experiment]) as files:
            write(files, name, test)
    typer.echo("\n".join(test.sentences()))
    typer.echo(f"\n{name} (.csv, .nc, .html), {name}-grids and {name}-curves (.png, .pdf) are in {out}/")
