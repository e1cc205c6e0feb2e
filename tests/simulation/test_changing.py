"""Mean rewards that change with time: played by the reference engine, with regret against the best arm of each time."""

import numpy as np
import pytest

from corrbandits import UCL, Greedy, Independent, Thompson, Trace, simulate
from corrbandits.adapters import BanditEnv
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
