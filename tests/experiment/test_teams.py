"""The table [team] of an experiment file: what it makes, what of it is refused, and what `simulate` prints of it."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.experiment import ExperimentError, load
from tests.support.commands import corrbandits

FILE = """
[arms]
count = 5
[truth]
means = [0.0, 0.3, 0.6, 0.9, 1.2]
noise_variance = 1.0
[priors.flat]
variance = inf
[policies.limits]
rule = "UCL"
prior = "flat"
[policies.draws]
rule = "Thompson"
prior = "flat"
[run]
horizon = 40
runs = 3
[team]
"""
TABLE = 'players = 4\ngraph = "ring"\nsharing = "consensus"\nkappa = 0.5\n'
WRONG = {
    "sharing = 'full'": "line 18: in [team], 'players' is missing",
    "players = 4\ngraph = 'tree'": "line 20: in [team], graph must be complete, ring",
    "players = 4\nsharing = 'consensus'\nkappa = 2": "line 21: in [team], kappa must be above 0 and at most 1, got 2",
    "players = 6\ncollisions = 'lost'": "line 19: in [team], 6 players cannot avoid each other on 5 arms",
    "players = 2\ncolisions = 'lost'": "there is no key 'colisions'. Did you mean 'collisions'?",
    "players = 2\ncollisions = 'lost'\nsensed = 1": "sensed must be true or false",
    "players = 2\nassignment = 'ranks'": "compares indices, but Thompson has none",
}


@pytest.fixture
def file(tmp_path):
    (tmp_path / "team.toml").write_text(FILE + TABLE)
    return tmp_path / "team.toml"


def test_every_policy_is_played_by_a_team_of_equals(file):
    teams = load(file).teams
    assert list(teams) == ["limits", "draws"]
    assert [len(team) for team in teams.values()] == [4, 4]
    assert (teams["draws"].sharing, teams["draws"].kappa) == ("consensus", 0.5)
    np.testing.assert_array_equal(
        teams["limits"].links, cb.Team.of(*load(file).policies["limits"], 4, graph="ring").links
    )


def test_without_the_table_there_are_no_teams(file):
    file.write_text(FILE.replace("[team]\n", ""))
    assert load(file).teams == {}


@pytest.mark.parametrize("table", WRONG)
def test_what_is_wrong_is_said_with_its_line(file, table):
    file.write_text(FILE + table + "\n")
    with pytest.raises(ExperimentError) as caught:
        load(file)
    assert WRONG[table] in str(caught.value)


def test_simulate_plays_the_teams_and_other_commands_say_that_they_do_not(file, tmp_path):
    done = corrbandits("simulate", "team.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "After 40 decisions of 4 players, 3 runs" in done.stdout
    trace = cb.Trace.load(tmp_path / "results" / "team.nc")
    described = load(file)
    again = cb.simulate_team(described.teams, described.environment, 40, runs=3, seed=0)
    np.testing.assert_array_equal(trace.arms.values, again.arms.values)
    for command in ("bounds", "stress"):
        refused = corrbandits(command, "team.toml", cwd=tmp_path)
        assert refused.returncode == 2
        assert "single players. Remove [team]" in refused.stderr
