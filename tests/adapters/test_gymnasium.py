"""A bandit as an environment of Gymnasium."""

import math

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import corrbandits as cb
from corrbandits.adapters import BanditEnv
from tests.support.samplers import SURFACE


def made(environment, horizon):
    """Return what Gymnasium's `make` makes, so that it has a specification: the checker wants one."""
    spec = gymnasium.envs.registration.EnvSpec(
        "Bandit-v0", entry_point=BanditEnv, kwargs={"environment": environment, "horizon": horizon}
    )
    return gymnasium.make(spec)


@pytest.mark.parametrize("environment", [SURFACE, cb.BernoulliBandit(means=[0.2, 0.7])])
def test_gymnasium_has_nothing_to_say_against_it(environment):
    known = set(gymnasium.registry)
    check_env(made(environment, 20).unwrapped)  # warnings are errors here
    assert set(gymnasium.registry) == known


ZEROS_AND_ONES = cb.BernoulliBandit(means=SURFACE.means / 100)
NOTHING = cb.Vague(coordinates=SURFACE.coordinates, parts=8)


@pytest.mark.parametrize(
    ("environment", "policy", "prior"),
    [
        (SURFACE, cb.UCL(a=1.5), cb.Independent(mean=SURFACE.means.mean(), variance=9.0, noise_variance=2.0, arms=100)),
        (ZEROS_AND_ONES, cb.UCL(a=1.5), cb.Independent(mean=0.5, variance=9.0, noise_variance=2.0, arms=100)),
        (SURFACE, cb.recommend(NOTHING, 60).policy, NOTHING),
    ],
    ids=["gaussian", "0 or 1", "told nothing"],
)
def test_episode_k_is_run_k_of_a_simulation(environment, policy, prior):
    """The engine of `simulate` is the witness of arms, rewards and regret."""
    horizon = 60
    trace = cb.simulate({"UCL": (policy, prior)}, environment, horizon=horizon, runs=3, seed=7, engine="reference")
    env = BanditEnv(environment, horizon=horizon)
    for episode in range(3):
        assert env.reset(seed=7 if episode == 0 else None) == (0, {})
        belief, arms, rewards, regrets, ended = prior, [], [], [], False
        while not ended:
            arms.append(policy.choose(belief, len(arms) + 1))
            observation, reward, terminated, ended, info = env.step(arms[-1])
            belief = belief.observe(arms[-1], reward)
            rewards.append(reward)
            regrets.append(info["regret"])
            assert (observation, terminated, info["optimal"]) == (0, False, arms[-1] == environment.means.argmax())
        of_run = trace.data.sel(policy="UCL", run=episode)
        assert arms == of_run.arms.values.tolist()
        assert rewards == of_run.rewards.values.tolist()
        assert np.cumsum(regrets) == pytest.approx(trace.regret.sel(policy="UCL", run=episode).values)


def test_noise_does_not_depend_on_the_arms_before():
    bandit = cb.GaussianBandit(means=[0.0, 100.0, 5.0], noise_variance=[1.0, 4.0, 9.0])
    env = BanditEnv(bandit, horizon=4)

    def noise(arms):
        env.reset(seed=3)
        return [(env.step(arm)[1] - bandit.means[arm]) / math.sqrt(bandit.noise_variance[arm]) for arm in arms]

    assert noise([0, 1, 2, 0]) == pytest.approx(noise([2, 2, 1, 1]), abs=1e-12)
    assert noise([0, 0, 0, 0]) != pytest.approx(noise([0, 0, 0, 0])[::-1])


def test_without_a_seed_episodes_differ_and_a_generator_may_be_set():
    env = BanditEnv(SURFACE, horizon=2)
    env.reset()
    first = env.step(0)[1]
    env.reset()
    assert env.step(0)[1] != first
    env.np_random = np.random.default_rng(5)
    env.reset()
    expected = SURFACE.means[0] + math.sqrt(10.0) * np.random.default_rng(5).standard_normal()
    assert env.step(0)[1] == pytest.approx(expected)


def test_it_goes_into_vectors():
    envs = gymnasium.vector.SyncVectorEnv([lambda: BanditEnv(SURFACE, horizon=3)] * 2)
    envs.reset(seed=11)
    seen = [envs.step(np.array([4, 4]))[1] for _ in range(3)]
    alone = BanditEnv(SURFACE, horizon=3)
    for place, seed in enumerate((11, 12)):
        alone.reset(seed=seed)
        assert [rewards[place] for rewards in seen] == [alone.step(np.array(4))[1] for _ in range(3)]


@pytest.mark.parametrize(
    ("action", "message"),
    [(-1, "at least 0, got -1"), (100, "from 0 to 99, got 100"), (1.5, "whole number, got 1.5"), (True, "whole")],
)
def test_a_bad_action_is_refused_and_takes_no_step(action, message):
    env = BanditEnv(SURFACE, horizon=1)
    env.reset(seed=0)
    with pytest.raises((TypeError, ValueError), match=message):
        env.step(action)
    assert env.step(0)[3]


def test_steps_outside_an_episode_and_bad_arguments_are_refused():
    env = BanditEnv(SURFACE, horizon=1)
    with pytest.raises(gymnasium.error.ResetNeeded, match="Call reset"):
        env.step(0)
    env.reset(seed=0)
    env.step(0)
    with pytest.raises(gymnasium.error.ResetNeeded, match="after the last"):
        env.step(0)
    with pytest.raises(ValueError, match="without options, got"):
        env.reset(options={"arm": 3})
    with pytest.raises(ValueError, match="horizon must be at least 1"):
        BanditEnv(SURFACE, horizon=0)
    with pytest.raises(TypeError, match="must be an Environment"):
        BanditEnv([1.0, 2.0], horizon=5)
