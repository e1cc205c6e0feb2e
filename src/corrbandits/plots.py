"""Figures: one function each, a trace in, axes out. Nothing here simulates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from corrbandits.trace import Trace

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# each with its own dashes, so that curves stay apart in grey; a seventh takes the first's colour and other dashes
COLOURS = ("#0b3c6f", "#c8501e", "#2f9e8f", "#8a6fb0", "#b08a00", "#6b6b6b")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 1, 1, 1)), (0, (2, 2)))
BOUND_STYLE: dict[str, Any] = {"color": "black", "linewidth": 1.0, "linestyle": (0, (1, 1.5))}


def regret(trace: Trace, *, lower_bound: xr.DataArray | None = None, ax: Axes | None = None) -> Axes:
    """Draw each policy's mean cumulative expected regret with its 95 % band, and a lower bound if one is given.

    >>> from corrbandits import UCL, GaussianBandit, Independent, simulate, theory
    >>> bandit = GaussianBandit(means=[0.0, 1.0], noise_variance=1.0)
    >>> trace = simulate({"UCL": (UCL(), Independent(noise_variance=1.0, arms=2))}, bandit, horizon=100, runs=10)
    >>> axes = regret(trace, lower_bound=theory.lai_robbins(bandit, 100))
    >>> [line.get_label() for line in axes.lines]
    ['UCL', 'Lai-Robbins lower bound']
    """
    ax = _new_axes() if ax is None else ax
    _draw_curves(trace, lower_bound, ax)
    if trace.data.sizes["policy"] <= len(COLOURS):
        ax.legend(frameon=False)
    else:
        ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small")
    return ax


def regret_with_start(trace: Trace, title: str, *, lower_bound: xr.DataArray, until: int) -> Figure:
    """Return a figure of the whole run and, beside it, its start up to time `until`."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    early = slice(1, min(until, int(trace.data.sizes["time"])))
    with mpl.rc_context({"font.size": 9, "axes.titlesize": 9}):
        figure = Figure(figsize=(7.0, 3.4), layout="constrained")
        whole, start = figure.subplots(1, 2, width_ratios=(3, 2))
        _draw_curves(trace, lower_bound, whole)
        _draw_curves(Trace(trace.data.sel(time=early)), lower_bound.sel(time=early), start)
        start.set_ylabel("")
        whole.set_title(title, loc="left")
        start.set_title(f"the first {early.stop:,} decisions", loc="left")
        handles, labels = whole.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def save(figure: Figure, path: Any) -> None:
    """Write a figure as PNG or PDF, by the ending; the same figure gives the same bytes."""
    dates = {"CreationDate": None} if str(path).endswith(".pdf") else {}
    figure.savefig(path, dpi=200, metadata=dates)


def _draw_curves(trace: Trace, lower_bound: xr.DataArray | None, ax: Axes) -> None:
    band = trace.band("regret")
    time = band["time"].values
    for i, policy in enumerate(trace.data["policy"].values.tolist()):
        of_policy = band.sel(policy=policy)
        colour, dashes = COLOURS[i % len(COLOURS)], DASHES[(i + i // len(COLOURS)) % len(DASHES)]
        ax.plot(time, of_policy["mean"], color=colour, linestyle=dashes, linewidth=1.6, label=policy)
        ax.fill_between(time, of_policy["low"], of_policy["high"], color=colour, alpha=0.25, linewidth=0)
    if lower_bound is not None:
        ax.plot(lower_bound["time"], lower_bound, label=lower_bound.attrs["long_name"], **BOUND_STYLE)
    ax.set(xlabel="time $t$ (decisions)", ylabel="mean cumulative regret (reward)", ylim=(0, None))
    ax.set_xlim(0, time[-1])
    ax.spines[["top", "right"]].set_visible(False)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:,.0f}")


def _new_axes() -> Axes:
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(5, 3.6), layout="constrained")[1]
