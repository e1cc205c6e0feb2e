"""Draw how block UCL loses no more than a multiple of log t, and moves ever more seldom.

python docs/moving.py
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterMathtext

from corrbandits import UCL, Blocked, GaussianBandit, Independent, Moves, Trace, plots, simulate

MEANS = [0.0, 0.4, 0.8, 1.2]
HORIZON, RUNS = 100_000, 400


def played(runs: int = RUNS, horizon: int = HORIZON) -> Trace:
    """Return the regret and the moves of UCL, asked at every step or once in a block."""
    flat = Independent(noise_variance=1.0, arms=len(MEANS))
    players = {"UCL": (UCL(), flat), "block UCL": (Blocked(UCL()), flat)}
    bandit = GaussianBandit(MEANS, noise_variance=1.0)
    return simulate(players, bandit, horizon, runs, seed=5, record="summary", moves=Moves(per_move=1.0))


def figure(trace: Trace) -> Figure:
    """Return regret and moves over the logarithm of time, where a multiple of log t is a straight line."""
    with mpl.rc_context({"font.size": 9, "axes.titlesize": 9}):
        figure = Figure(figsize=(7.0, 3.0), layout="constrained")
        for ax, quantity in zip(figure.subplots(1, 2), ("regret", "moves"), strict=True):
            plots.regret(trace, quantity=quantity, ax=ax)
            ax.set(xscale="log", xlim=(1, None), xticks=10 ** np.arange(6))
            ax.xaxis.set_major_formatter(LogFormatterMathtext())
            ax.minorticks_off()
    return figure


if __name__ == "__main__":
    plots.save(figure(played()), Path(__file__).parent / "moving.png")
