"""Figures of recovery, of models confused, of power, and of people beside people made up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corrbandits.choices.confusion import Confusion
from corrbandits.choices.parameters import PARAMETERS
from corrbandits.choices.planning import Power
from corrbandits.choices.recovery import Recovery

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, OTHER = "#0b3c6f", "#c8501e"
LABELS = {
    "reward": "mean reward",
    "distance": "distance from the last arm",
    "revisit": "share of arms taken again",
}


def draw_recovery(recovery: Recovery) -> Figure:
    """Return a figure of what was given and found (diagonal), and of errors against each other (below).

    Errors along a slope are a trade-off: two parameters that are missed together explain choices about as well. What is
    found farther out than all that was given is wide lies at the edge.

    >>> found = Recovery(("length", "noise"), np.zeros((3, 2)), np.array([[0.1, 0.2], [0.0, 0.1], [-0.1, -0.3]]))
    >>> len(draw_recovery(found).axes)
    3
    """
    from matplotlib.figure import Figure

    p = len(recovery.names)
    figure = Figure(figsize=(2.6 * p, 2.6 * p), layout="constrained")
    grid = figure.subplots(p, p, squeeze=False)
    for row in range(p):
        for column in range(p):
            if row == column:
                _draw_pairs(recovery, row, grid[row, row])
            elif row > column:
                _draw_errors(recovery, row, column, grid[row, column])
            else:
                grid[row, column].remove()
    return figure


def draw_confusion(confusion: Confusion) -> Figure:
    """Return a figure of the confusion matrix, each share written in its cell.

    >>> seen = Confusion(("one", "other"), np.array([[[-3.0, -5.0]], [[-7.0, -6.0]]]))
    >>> [text.get_text() for text in draw_confusion(seen).axes[0].texts]
    ['1.00', '0.00', '0.00', '1.00']
    """
    from matplotlib.figure import Figure

    size, longest = 0.9 * len(confusion.names), max(map(len, confusion.names))
    figure = Figure(figsize=(size + 1.0 + 0.1 * longest, size + 1.2), layout="constrained")
    ax = figure.subplots()
    ax.imshow(confusion.matrix, vmin=0, vmax=1, cmap="Blues")
    for (row, column), share in np.ndenumerate(confusion.matrix):
        ax.text(column, row, f"{share:.2f}", ha="center", va="center", color="white" if share > 0.5 else "black")
    places = np.arange(len(confusion.names))
    ax.set_xticks(places, [name.replace(" ", "\n") for name in confusion.names])
    ax.set_yticks(places, confusion.names)
    ax.set_xlabel("best description")
    ax.set_ylabel("made up by")
    return figure


def draw_power(power: Power) -> Figure:
    """Return a figure of the share of experiments that find the right model, over people; a line for each of `rounds`.

    >>> table = Power((10, 20), (2, 4), np.array([[0.2, 0.5], [0.4, 0.9]]), sure=0.95)
    >>> [line.get_label() for line in draw_power(table).axes[0].lines]
    ['2 rounds', '4 rounds']
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.4, 2.9), layout="constrained")
    ax = figure.subplots()
    shades = mpl.colormaps["viridis_r"](np.linspace(0.15, 1.0, len(power.rounds)))
    for number, share, colour in zip(power.rounds, power.share.T, shades, strict=True):
        ax.plot(power.people, share, "o-", color=colour, label=f"{number} round{'s' if number > 1 else ''}")
    ax.set_xscale("log")
    ax.set_xticks(power.people, [f"{number:,}" for number in power.people])
    ax.xaxis.minorticks_off()
    ax.set_ylim(-0.03, 1.03)
    ax.set_xlabel("people")
    ax.set_ylabel(f"share of experiments sure at {power.sure:g}")
    ax.legend(frameon=False, fontsize="small")
    return figure


def draw_check(check: xr.Dataset) -> Figure:
    """Return a figure of what `predictive_check` found: people, and the band of people made up, over trials.

    >>> import xarray as xr
    >>> curves = np.array([[1.0, 2.0], [1.1, 1.9], [0.8, 1.5], [1.4, 2.2]])
    >>> source = ["observed", "simulated", "low", "high"]
    >>> one = xr.Dataset({"reward": (("source", "trial"), curves)}, {"source": source, "trial": [1, 2]})
    >>> draw_check(one).axes[0].get_ylabel()
    'mean reward'
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.8 * len(check.data_vars), 2.6), layout="constrained")
    for ax, (name, curves) in zip(
        figure.subplots(1, len(check.data_vars), squeeze=False)[0], check.items(), strict=True
    ):
        trial = curves["trial"].values
        low, high = (curves.sel(source=end).values for end in ("low", "high"))
        ax.fill_between(trial, low, high, color=OTHER, alpha=0.25, linewidth=0, label="made up, 95 %")
        ax.plot(trial, curves.sel(source="simulated").values, color=OTHER, linestyle="--", label="made up, mean")
        ax.plot(trial, curves.sel(source="observed").values, color=INK, label="people")
        ax.set_xlabel("trial")
        ax.set_ylabel(LABELS.get(str(name), str(name)))
    figure.axes[0].legend(frameon=False, fontsize="small")
    return figure


def _draw_pairs(recovery: Recovery, k: int, ax: Axes) -> None:
    name = recovery.names[k]
    given, room = recovery.given[:, k], _room(recovery, k)
    found = np.clip(recovery.found[:, k], given.min() - room, given.max() + room)
    ends = [min(given.min(), found.min()), max(given.max(), found.max())]
    ax.plot(ends, ends, color="0.6", linewidth=0.8)
    ax.plot(given, found, "o", color=INK, markersize=3, alpha=0.7)
    ax.set_title(f"{name}\nSpearman {recovery.spearman[name]:.2f}", fontsize="medium")
    ax.set_xlabel(f"{_axis(name)} given")
    ax.set_ylabel(f"{_axis(name)} found")


def _draw_errors(recovery: Recovery, row: int, column: int, ax: Axes) -> None:
    rooms = [_room(recovery, k) for k in range(len(recovery.names))]
    errors = np.clip(recovery.found - recovery.given, np.negative(rooms), rooms)
    ax.axhline(0, color="0.6", linewidth=0.8)
    ax.axvline(0, color="0.6", linewidth=0.8)
    ax.plot(errors[:, column], errors[:, row], "o", color=OTHER, markersize=3, alpha=0.7)
    ax.set_title(f"errors\nSpearman {recovery.trade_offs[row, column]:.2f}", fontsize="medium")
    ax.set_xlabel(f"error of {_axis(recovery.names[column])}")
    ax.set_ylabel(f"error of {_axis(recovery.names[row])}")


def _room(recovery: Recovery, k: int) -> float:
    """Return how far beyond what was given the picture of a parameter goes: what lies farther out is at its edge."""
    return float(np.ptp(recovery.given[:, k])) or float(np.abs(recovery.found[:, k] - recovery.given[:, k]).max())


def _axis(name: str) -> str:
    """Return a parameter's name as it is on its line."""
    parameter = PARAMETERS[name]
    return name if parameter.low < 0 else f"log {name}" if parameter.high > 1 else f"log odds of {name}"
