"""The command line, assembled from its groups of commands; each loads its libraries when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from corrbandits.cli import arena, experiments, fit, paper, serve, stress
from corrbandits.cli.study import commands as study_commands

app = typer.Typer(
    help="Sequential decisions among arms whose rewards are related.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Sequential decisions among arms whose rewards are related."""
    if show:
        import corrbandits

        typer.echo(corrbandits.__version__)
        raise typer.Exit


for command in (
    paper.reproduce,
    experiments.simulate,
    experiments.bounds,
    stress.stress,
    arena.arena,
    fit.fit,
    paper.errata,
    paper.audit,
    serve.serve,
    serve.token,
):
    app.command()(command)
app.add_typer(study_commands.app(), name="study")
