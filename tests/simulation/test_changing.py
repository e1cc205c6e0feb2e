"""Mean rewards that change with time: played by every engine, with regret against the best arm of each time."""

import itertools

import numpy as np
import pytest

from corrbandits import (
    UCL,
    ChangingBandit,
    Correlated,
    Exponential,
    GaussianBandit,
    Gittins,
    Greedy,
    Independent,
    Thompson,
    Trace,
    Vague,
    series,
    simulate,
)
from corrbandits.adapters import BanditEnv
from corrbandits.simulation.engines import ENGINES, Runs
from tests.simulation.engines.test_compiled import POLICIES
from tests.support.changing import Drifting, Switching, drifted

SWITCHING = Switching([0.0, 2.0, 1.0], [5.0, 2.0, 6.0], at=10)
STILL = Independent(variance=4.0, noise_variance=1.0, arms=3)
PLAYERS = {
    "still": (UCL(), STILL),
    "drifting": (UCL(), Drifting(drift=0.5, arms=3)),
    "draws": (Thompson(), Drifting(drift=0.5, arms=3)),
}


def brute_force_regret(arms):
    """The sum so far of what the best arm of each time has over the arm taken, step by step."""
    best = {False: 2.0, True: 6.0}
    means = {False: (0.0, 2.0, 1.0), True: (5.0, 2.0, 6.0)}
    lost = [best[t >= 10] - means[t >= 10][arm] for t, arm in enumerate(arms, start=1)]
    return np.cumsum(lost)


@pytest.fixture(scope="module")
def trace():
    return simulate(PLAYERS, SWITCHING, horizon=60, runs=4, seed=0, engine="auto")


def test_regret_is_against_the_best_arm_of_each_time(trace):
    for policy in PLAYERS:
        for run in range(4):
            found = trace.regret.sel(policy=policy, run=run).values
            expected = brute_force_regret(trace.arms.sel(policy=policy, run=run).values.tolist())
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert (np.diff(trace.regret.values) >= 0).all()
    assert trace.data["means"].attrs["long_name"] == "true mean reward at time 1"


def test_rewards_are_those_of_their_time(trace):
    noise = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(2,)).spawn(2)[0]).standard_normal(60)
    arms, rewards = (getattr(trace, name).sel(policy="drifting", run=2).values for name in ("arms", "rewards"))
    means = [SWITCHING.means_at(t)[arm] for t, arm in enumerate(arms.tolist(), start=1)]
    np.testing.assert_array_equal(rewards, means + noise)


def test_the_belief_is_asked_at_every_time(trace):
    arms, rewards = (getattr(trace, name).sel(policy="drifting", run=1).values for name in ("arms", "rewards"))
    steps = list(zip(range(1, 61), arms.tolist(), rewards.tolist(), strict=True))
    for t in (2, 9, 10, 30, 60):
        moments = [drifted(steps[: t - 1], t, arm=arm, drift=0.5) for arm in range(3)]
        limits = [mean + UCL().width(t, 3) * variance**0.5 for mean, variance in moments]
        assert arms[t - 1] == np.argmax(limits)


def test_a_summary_has_the_same_regret(trace):
    times = [1, 9, 10, 11, 37, 60]
    summary = simulate(PLAYERS, SWITCHING, horizon=60, runs=4, seed=0, record="summary", times=times)
    np.testing.assert_array_equal(summary.regret.values, trace.regret.sel(time=times).values)
    np.testing.assert_array_equal(summary.counts.values, trace.counts.values)


def test_a_saved_trace_keeps_its_regret(trace, tmp_path):
    trace.save(tmp_path / "changing.nc")
    again = Trace.load(tmp_path / "changing.nc")
    np.testing.assert_array_equal(again.regret.values, trace.regret.values)
    assert again.data.identical(trace.data)


def test_a_checkpoint_keeps_its_regret(trace, tmp_path):
    for _ in range(2):
        again = simulate(PLAYERS, SWITCHING, horizon=60, runs=4, seed=0, checkpoint=tmp_path / "saved")
        np.testing.assert_array_equal(again.regret.values, trace.regret.values)


def test_the_compiled_engine_refuses_in_words():
    with pytest.raises(ValueError, match="cannot play this because the mean rewards change with time"):
        simulate({"UCL": (UCL(), STILL)}, SWITCHING, horizon=20, engine="compiled")


WHERE = np.random.default_rng(4).uniform(0, 5, (12, 2))  # no two arms are alike, or ties would hang on rounding
WAVES = series.drift(4 * Exponential(2.0), WHERE, steps=150, scale=20.0, noise_variance=1.0, seed=5)
BELIEFS = {
    "flat": Independent(noise_variance=1.0, arms=12),
    "correlated": Correlated(
        mean=np.linspace(0, 1, 12), kernel=4 * Exponential(2.0), coordinates=WHERE, noise_variance=1.0
    ),
}


BLOCKED = [name for name in POLICIES if name.startswith("blocked")]
PAIRS = [(name, belief) for name in POLICIES if name not in BLOCKED for belief in BELIEFS]
PAIRS += zip(BLOCKED, itertools.cycle(BELIEFS), strict=False)  # each on one: their loops take seconds to compile


@pytest.mark.parametrize(("name", "belief"), PAIRS)
def test_both_engines_play_alike_on_a_path(name, belief):
    players = {"policy": (POLICIES[name], BELIEFS[belief])}
    fast, plain = (simulate(players, WAVES, 150, 3, seed=6, engine=engine) for engine in ("compiled", "reference"))
    np.testing.assert_array_equal(fast.arms, plain.arms)
    np.testing.assert_allclose(fast.rewards, plain.rewards, rtol=1e-14)
    np.testing.assert_array_equal(fast.regret, plain.regret)


def test_a_belief_told_nothing_is_compiled_on_a_path():
    players = {"untold": (Gittins(60), Vague(coordinates=WHERE))}
    fast, plain = (simulate(players, WAVES, 60, seed=2, engine=engine) for engine in ("compiled", "reference"))
    np.testing.assert_array_equal(fast.arms, plain.arms)


def test_a_path_that_stays_where_it_is_is_a_bandit_whose_means_do_not_change():
    means = np.linspace(0, 2, 12)
    still, path = GaussianBandit(means, 1.0), ChangingBandit(np.tile(means, (150, 1)), 1.0)
    players = {"UCL": (UCL(), BELIEFS["correlated"]), "draws": (Thompson(), BELIEFS["flat"])}
    for record in ("full", "summary"):
        one, other = (simulate(players, bandit, 150, 3, record=record) for bandit in (still, path))
        np.testing.assert_array_equal(one.counts, other.counts)
        np.testing.assert_allclose(one.regret, other.regret, rtol=1e-13)


def test_where_a_run_is_cut_into_blocks_every_step_has_the_means_of_its_time():
    noise, played = np.random.default_rng(9).standard_normal(150), []
    for cuts in ([150], [1] * 150, [7, 60, 1, 82]):
        runs = Runs(UCL(), BELIEFS["correlated"], WAVES, 150, seed=0, first=0, last=1)
        run = ENGINES["compiled"].begin(runs, np.random.default_rng(3))
        arms, rewards, done = np.empty(150, dtype=np.int32), np.empty(150), 0
        for n in cuts:
            run.advance(noise[done : done + n], arms[done : done + n], rewards[done : done + n])
            done += n
        played.append((arms.tobytes(), rewards.tobytes()))
        np.testing.assert_allclose(rewards, WAVES.path[np.arange(150), arms] + noise, rtol=1e-12, atol=1e-12)
    assert played[0] == played[1] == played[2]


def test_a_gymnasium_environment_changes_too():
    env = BanditEnv(SWITCHING, horizon=12)
    env.reset(seed=0)
    seen = [env.step(0) for _ in range(12)]
    assert [step[4]["regret"] for step in seen] == [2.0] * 9 + [1.0] * 3
    assert not any(step[4]["optimal"] for step in seen)
    belief = Drifting(drift=0.5, arms=3)
    played = simulate({"all": (Greedy(), belief)}, SWITCHING, horizon=12, seed=0)
    noise = played.rewards.values.ravel() - [
        SWITCHING.means_at(t)[arm] for t, arm in enumerate(played.arms.values.ravel().tolist(), start=1)
    ]
    np.testing.assert_allclose([step[1] for step in seen], noise + np.repeat([0.0, 5.0], [9, 3]), rtol=1e-12)
