"""Teams of any rule, and of rules around a rule, who hear of each other's rewards: compiled as by the reference."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import Team, simulate_team
from corrbandits.company.engines import ENGINES, TeamRuns, engine_for
from corrbandits.company.engines.compiled import around
from corrbandits.company.engines.compiled.engine import LEAST_DECISIONS, MOST_DRAWING
from corrbandits.company.simulator import _placed
from tests.support.overlaps import watch
from tests.support.teams import BANDITS, BELIEFS, WHERE

MOVES = cb.Moves(0.3, 0.2, coordinates=WHERE)
RULES = [
    cb.Gittins(40),
    cb.HorizonUCL(40),
    cb.KnowledgeGradient(40),
    cb.Thompson(),
    cb.EpsilonGreedy(0.2),
    cb.Uniform(),
    cb.Blocked(cb.UCL()),
    cb.Blocked(cb.UCB1(), length=3),
    cb.Softmax(cb.UCL(), temperature=0.3),
    cb.Softmax(cb.UCL()),
    cb.Satisficing(cb.UCL(), M=1.5),
    cb.Safe(cb.UCL(), floor=-1.0),
    cb.OnGraph(cb.UCL(), [(k, k + 1) for k in range(5)]),
    cb.Travelling(cb.UCL(), MOVES, horizon=40),
    cb.Blocked(cb.Safe(cb.Softmax(cb.Gittins(40), temperature=0.2), floor=-2.0), length=3),
]
FIELDS = ("arms", "collisions", "sent", "initialisation", "counts", "moves")


def teams():
    for rule in RULES:
        for belief in ("apart", "joint"):
            for sharing, collisions in (("full", "none"), ("neighbours", "lost")):
                yield Team.of(rule, BELIEFS[belief], 4, sharing=sharing, graph="path", collisions=collisions)


def both(team, **options):
    """Return the traces of both engines."""
    given = {"horizon": 40, "seed": 3, "threads": 1, "moves": MOVES} | options
    return [simulate_team(team, BANDITS["gaussian"], engine=engine, **given) for engine in ("compiled", "reference")]


def differing():
    """Return what differs between the engines, for all teams."""
    for team in teams():
        one, other = both(team)
        yield from (
            f"{name} of {team} on {team.players[0][1]}"
            for name in FIELDS
            if not np.array_equal(one.data[name].values, other.data[name].values)
        )


def test_loops_take_the_arms_of_the_reference():
    """Played without compiling, as to compile one of thirty loops takes longer than to play them all."""
    told = "from tests.company.test_around import differing; print('\\n'.join(differing()))"
    given = {"env": os.environ | {"NUMBA_DISABLE_JIT": "1"}, "cwd": Path(__file__).parents[2]}
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", told], **given, capture_output=True, text=True)
    assert (found.returncode, found.stdout.strip()) == (0, ""), found.stderr


def test_a_compiled_loop_takes_them_too(monkeypatch):
    watched = watch(monkeypatch, around, "team_loop_of")
    rule = cb.Blocked(cb.Softmax(cb.UCL(), temperature=0.3), length=2)
    for collisions in ("none", "lost"):
        one, other = both(Team.of(rule, BELIEFS["apart"], 3, collisions=collisions), runs=2, horizon=200)
        for name in FIELDS:
            np.testing.assert_array_equal(one.data[name].values, other.data[name].values)
    assert all(loop.calls and not loop.found for loop in watched)
    assert watched


def test_long_runs_are_compiled_by_themselves():
    team = Team.of(cb.Blocked(cb.UCL()), BELIEFS["apart"], 4)
    short, long = (TeamRuns(team, BANDITS["gaussian"], n, 0, 0, 1) for n in (50, LEAST_DECISIONS // 4))
    assert engine_for(short) is ENGINES["reference"]
    assert engine_for(short, "compiled") is engine_for(long) is ENGINES["compiled"]


def test_many_players_who_draw_are_played_in_python_by_themselves():
    """A loop is made for so many generators, which takes a minute for hundreds."""
    for rule, engine in ((cb.Thompson(), "reference"), (cb.Gittins(9_000), "compiled")):
        runs = TeamRuns(Team.of(rule, BELIEFS["apart"], MOST_DRAWING + 1), BANDITS["gaussian"], 9_000, 0, 0, 1)
        assert engine_for(runs) is ENGINES[engine]


def test_a_rule_whose_belief_lies_nowhere_minds_the_places_of_the_environment():
    bandit = cb.GaussianBandit([0.0, 1.0, 2.0], 1.0, [[0.0], [1.0], [9.0]])
    prior = cb.Independent(variance=4.0, noise_variance=1.0, arms=3)
    arms = []
    for moves in (cb.Moves(0.1, 0.5), cb.Moves(0.1, 0.5, [0.0, 1.0, 9.0])):
        rule = cb.Travelling(cb.UCL(), moves, horizon=30)
        team = Team([(rule, prior), (rule, prior)])
        arms.append(simulate_team(team, bandit, 30, engine="reference").arms.values)
        assert not ENGINES["compiled"].refuses(TeamRuns(_placed(team, bandit), bandit, 30, 0, 0, 1))  # still alike
    np.testing.assert_array_equal(*arms)


REFUSED = {
    "its players average estimates, and the rule": {"sharing": "consensus"},
    "assigned in the way 'turns', and the rule": {"assignment": "turns"},
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_not_compiled_is_said(words):
    team = Team.of(cb.Blocked(cb.UCL()), BELIEFS["apart"], 2, **REFUSED[words])
    assert words in ENGINES["compiled"].refuses(TeamRuns(team, BANDITS["gaussian"], 60, 0, 0, 1))


def test_players_of_different_rules_are_played_in_python():
    team = Team([(cb.Thompson(), BELIEFS["apart"]), (cb.Blocked(cb.UCL()), BELIEFS["apart"])])
    why = ENGINES["compiled"].refuses(TeamRuns(team, BANDITS["gaussian"], 60, 0, 0, 1))
    assert "its players have different rules or priors" in why


def test_the_factor_within_another_rule_is_played_in_python():
    team = Team.of(cb.Blocked(cb.CorrelatedUCL()), BELIEFS["joint"], 2)
    assert "the factor of the printed index" in ENGINES["compiled"].refuses(
        TeamRuns(team, BANDITS["gaussian"], 60, 0, 0, 1)
    )
