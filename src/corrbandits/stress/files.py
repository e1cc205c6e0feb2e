"""The files that `corrbandits stress` writes."""

from __future__ import annotations

from corrbandits._shell.outputs import Results
from corrbandits.experiment.results import write_figure
from corrbandits.stress import figures
from corrbandits.stress.page import render
from corrbandits.stress.result import StressTest


def write(files: Results, name: str, test: StressTest) -> None:
    """Write a test as NAME.csv, .nc and .html, and its figures as NAME-grids and NAME-curves (.png, .pdf)."""
    files.write(f"{name}.csv", test.to_csv().encode())
    with test.to_netcdf() as content:
        files.write(f"{name}.nc", content)
    files.write(f"{name}.html", render(test, name.removesuffix("-stress")).encode())
    write_figure(files, f"{name}-grids", figures.grids(test))
    write_figure(files, f"{name}-curves", figures.curves(test))
