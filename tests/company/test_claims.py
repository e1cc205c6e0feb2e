"""One claim of the literature: coop-UCB2 approaches the centralised rule."""

import numpy as np
import pytest
from scipy.stats import t as student

import corrbandits as cb
from corrbandits import Team, coop_ucb2, simulate_team
from tests.support import script

PLAYERS, HORIZON, RUNS = 6, 2_000, 60
BANDIT = cb.GaussianBandit(np.linspace(0.0, 1.8, 10), 1.0)
FLAT = cb.Independent(noise_variance=1.0, arms=10)


@pytest.fixture(scope="module")
def regret():
    """The group's regret at the end, in every run, by team; all on the same noise."""
    teams = {
        "centralised": Team.of(cb.UCB1(), FLAT, PLAYERS, sharing="full"),
        "complete": coop_ucb2(PLAYERS, 10, graph="complete"),
        "path": coop_ucb2(PLAYERS, 10, graph="path"),
        "alone": Team.of(cb.UCB1(), FLAT, PLAYERS, sharing="none"),
    }
    trace = simulate_team(teams, BANDIT, HORIZON, RUNS, seed=0, record="summary", times=[HORIZON])
    return {name: trace.regret.sel(policy=name).values.ravel() for name in teams}


def interval(differences, level=0.99):
    """The interval of a mean over runs."""
    half = student.ppf((1 + level) / 2, RUNS - 1) * differences.std(ddof=1) / np.sqrt(RUNS)
    return differences.mean() - half, differences.mean() + half


def test_on_a_complete_graph_it_approaches_the_centralised_rule(regret):
    """Within a quarter of what it costs to be alone; its doubt of estimates is what is left."""
    _, high = interval(regret["complete"] - regret["centralised"])
    assert high < 0.25 * (regret["alone"].mean() - regret["centralised"].mean())


def test_without_doubt_it_is_the_centralised_rule_on_a_complete_graph(regret):
    team = Team.of(cb.UCB1(), FLAT, PLAYERS, sharing="consensus")
    trace = simulate_team(team, BANDIT, HORIZON, RUNS, seed=0, record="summary", times=[HORIZON])
    low, high = interval(trace.regret.values.ravel() - regret["centralised"])
    assert low <= 0 <= high or max(abs(low), abs(high)) < 1e-9


def test_whatever_graph_connects_them_they_come_nearer_to_the_centre_than_to_strangers(regret):
    alone, centre = regret["alone"], regret["centralised"]
    for graph in ("complete", "path"):
        assert interval(regret[graph] - (alone + centre) / 2)[1] < 0, graph


def test_no_group_beats_the_centralised_bound_by_much(regret):
    """The bound is asymptotic: at this horizon it is of the order of what the centralised rule loses, and below it."""
    bound = float(cb.theory.centralised(BANDIT, HORIZON, PLAYERS)[-1])
    assert bound < regret["centralised"].mean() < 8 * bound


@pytest.fixture(scope="module")
def drawn():
    """What the figure of the page is drawn from, of fewer runs and decisions."""
    return script("docs/company.py").played(players=20, horizon=500, runs=RUNS)


def test_on_a_ring_or_a_path_equal_players_differ_and_lose_less_than_on_a_complete_graph(drawn):
    last = drawn.regret.isel(time=-1)
    for graph in ("ring", "path"):
        assert interval((last.sel(policy="complete") - last.sel(policy=graph)).values)[0] > 0
    assert float(last.sel(policy="alone").mean()) > 4 * float(last.sel(policy="complete").mean())


def test_the_figure_has_a_curve_for_every_team(drawn):
    from matplotlib.figure import Figure

    figure = script("docs/company.py")
    ax = Figure().subplots()
    figure.over_time(drawn, ax)
    assert [line.get_label() for line in ax.lines] == [*figure.NAMES.values(), "centralised lower bound"]
    assert set(figure.at_the_end(drawn)) == set(figure.NAMES)
