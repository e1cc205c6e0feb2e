"""The files that `corrbandits arena` writes beside the games."""

from __future__ import annotations

from collections.abc import Sequence

from corrbandits._shell.outputs import Results as Files
from corrbandits.arena import figures
from corrbandits.arena.page import render
from corrbandits.arena.standings import Standing, to_csv
from corrbandits.experiment.results import write_figure

NAME = "arena"


def write(files: Files, rows: Sequence[Standing], seed: int) -> None:
    """Write the table as arena.csv, the page as arena.html, and the figures (.png, .pdf)."""
    files.write(f"{NAME}.csv", to_csv(rows).encode())
    files.write(f"{NAME}.html", render(rows, seed).encode())
    for draw in (figures.leaderboard, figures.families, figures.wrongly):
        if (figure := draw(rows)) is not None:
            write_figure(files, f"{NAME}-{draw.__name__}", figure)
