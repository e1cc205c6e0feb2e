"""The files that `corrbandits fit` writes beside what is fitted."""

from __future__ import annotations

from collections.abc import Mapping

from corrbandits._shell.outputs import Results
from corrbandits.experiment.results import write_figure
from corrbandits.fits import figures
from corrbandits.fits.page import render
from corrbandits.fits.standings import Standings, models_csv, people_csv


def write(files: Results, name: str, found: Standings, words: Mapping[str, str]) -> None:
    """Write the tables as NAME-people.csv and NAME-models.csv, the page as NAME.html, and two figures (.png, .pdf)."""
    files.write(f"{name}-people.csv", people_csv(found).encode())
    files.write(f"{name}-models.csv", models_csv(found).encode())
    files.write(f"{name}.html", render(found, name.removesuffix("-fit"), words).encode())
    write_figure(files, f"{name}-models", figures.models(found))
    write_figure(files, f"{name}-parameters", figures.parameters(found))
