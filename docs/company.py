"""Draw what several players lose together: over time, and with up to 50 players, on four graphs.

python docs/company.py
"""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from corrbandits import UCB1, GaussianBandit, Independent, Team, Trace, coop_ucb2, plots, simulate_team, theory

ARMS, HORIZON, RUNS = 10, 10_000, 20
PLAYERS, SHOWN = (1, 2, 5, 10, 20, 50), 10
BANDIT = GaussianBandit(np.linspace(0.0, 1.8, ARMS), noise_variance=1.0)
FLAT = Independent(noise_variance=1.0, arms=ARMS)
GRAPHS = ("complete", "ring", "star", "path")
NAMES = {"alone": "no sharing", **{graph: f"coop-UCB2, {graph}" for graph in GRAPHS}, "full": "full sharing"}


def teams(players: int) -> dict[str, Team]:
    """Return a team for each way to share, all of UCB1."""
    told = {graph: coop_ucb2(players, ARMS, graph=graph) for graph in GRAPHS}
    alone, full = (Team.of(UCB1(), FLAT, players, sharing=way) for way in ("none", "full"))
    return {"alone": alone, **told, "full": full}


def played(players: int, horizon: int = HORIZON, runs: int = RUNS) -> Trace:
    """Return what these teams lose."""
    return simulate_team(teams(players), BANDIT, horizon, runs, seed=0, record="summary")


def over_time(trace: Trace, ax: Axes) -> None:
    """Draw the group's regret of ten players over time, with the centralised bound."""
    band = trace.band()
    for i, (team, name) in enumerate(NAMES.items()):
        style = {"color": plots.COLOURS[i], "linestyle": plots.DASHES[i], "linewidth": 1.5, "label": name}
        ax.plot(band["time"], band["mean"].sel(policy=team), **style)
    bound = theory.centralised(BANDIT, trace.horizon, SHOWN, times=trace.data["time"].values)
    ax.plot(bound["time"], bound.where(bound > 0), label="centralised lower bound", **plots.BOUND_STYLE)
    ax.set(xlabel="time $t$ (decisions of each player)", title=f"{SHOWN} players", xlim=(5, trace.horizon))


def over_players(lost: dict[int, dict[str, tuple[float, float]]], ax: Axes) -> None:
    """Draw the regret at the end against the number of players, with two standard errors."""
    for i, team in enumerate(NAMES):
        means, errors = np.array([lost[players][team] for players in lost]).T
        style = {"color": plots.COLOURS[i], "linestyle": plots.DASHES[i], "marker": ".", "linewidth": 1.2}
        ax.errorbar(list(lost), means, yerr=2 * errors, **style)
    ax.axhline(float(theory.centralised(BANDIT, HORIZON, 1)[-1]), **plots.BOUND_STYLE)
    ax.set(xlabel="players", title=f"after {HORIZON:,} decisions of each", xscale="log", xticks=list(lost))
    ax.set_xticklabels([str(players) for players in lost])
    ax.minorticks_off()


def at_the_end(trace: Trace) -> dict[str, tuple[float, float]]:
    """Return the mean of each team's regret at the end, and its standard error."""
    last = trace.regret.isel(time=-1)
    errors = last.std("run", ddof=1) / np.sqrt(last.sizes["run"])
    return {team: (float(last.sel(policy=team).mean()), float(errors.sel(policy=team))) for team in NAMES}


def main() -> None:
    traces = {players: played(players) for players in PLAYERS}
    figure = Figure(figsize=(7.6, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    over_time(traces[SHOWN], left)
    over_players({players: at_the_end(trace) for players, trace in traces.items()}, right)
    left.set(xscale="log", yscale="log", ylabel="mean regret of the group (reward)", ylim=(40, None))
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
        ax.yaxis.set_major_formatter(lambda y, _: f"{y:,.0f}")
    left.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    figure.legend(*left.get_legend_handles_labels(), frameon=False, loc="outside lower center", ncols=3)
    plots.save(figure, Path(__file__).parent / "company.png")


if __name__ == "__main__":
    main()
