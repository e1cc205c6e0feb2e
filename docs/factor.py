"""Draw what the factor of the printed index costs: regret against the number of arms and the length, both indices.

python docs/factor.py
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from corrbandits import Correlated, CorrelatedUCL, Exponential, plots, simulate
from corrbandits.environments import landscapes

SIDES, LENGTHS = (4, 6, 8, 10, 12, 14), (1.0, 3.0, 10.0, 30.0)
VARIANCE = NOISE_VARIANCE = 10.0
HORIZON, SURFACES, RUNS, A = 1_000, 20, 5, 1.5


def regret(side: int, length: float, surfaces: int = SURFACES) -> dict[str, float]:
    """Return the mean regret of both indices on surfaces drawn from the prior they are given."""
    where, kernel = landscapes.grid(side, side), VARIANCE * Exponential(length)
    prior = Correlated(mean=0.0, kernel=kernel, coordinates=where, noise_variance=NOISE_VARIANCE)
    players = {"printed": (CorrelatedUCL(a=A), prior), "plain": (CorrelatedUCL(a=A, factor=False), prior)}
    totals = []
    for number in range(surfaces):
        surface = landscapes.draw(kernel, where, noise_variance=NOISE_VARIANCE, seed=number)
        totals.append(simulate(players, surface, HORIZON, RUNS, seed=number).regret.isel(time=-1).mean("run").values)
    return dict(zip(players, np.mean(totals, axis=0).tolist(), strict=True))


def main() -> None:
    figure = Figure(figsize=(7.0, 3.0), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for i, length in enumerate(LENGTHS):
        found = [regret(side, length) for side in SIDES]
        for ax, index in zip(axes, ("printed", "plain"), strict=True):
            ax.plot(
                [side**2 for side in SIDES],
                [each[index] for each in found],
                color=plots.COLOURS[i],
                linestyle=plots.DASHES[i],
                marker=".",
                label=f"length {length:g}",
            )
    for ax, title in zip(axes, ("printed index, with the factor", "plain index"), strict=True):
        ax.set(xlabel="number of arms", title=title, ylim=(0, None))
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel(f"mean regret after {HORIZON:,} decisions")
    axes[1].legend(frameon=False)
    plots.save(figure, Path(__file__).parent / "factor.png")


if __name__ == "__main__":
    main()
