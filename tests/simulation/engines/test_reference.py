"""The reference engine against a loop written out by hand, for a policy, a belief and an environment of one's own."""

import numpy as np

import corrbandits as cb
from corrbandits.environments import Environment
from corrbandits.simulation.engines import ENGINES, Runs


class Alternating(cb.Policy):
    """Takes a random arm at even times, the first of the largest mean at odd ones."""

    def _choose(self, belief, t, rng, arms):
        return int(rng.integers(belief.arms)) if t % 2 == 0 else int(belief.mean.argmax())


class Stairs(Environment):
    """Rewards in steps of a quarter."""

    noise_variance = np.full(4, 0.1)

    def noise(self, rng, horizon):
        return rng.uniform(-1, 1, horizon)

    def reward(self, arm, noise):
        return float(np.round(4 * (self.means[arm] + noise)) / 4)


def test_a_run_is_choose_draw_observe():
    policy, environment = Alternating(), Stairs([0.0, 0.5, 1.0, 1.5])
    prior = cb.Independent(noise_variance=1.0, arms=4)
    runs = Runs(policy, prior, environment, horizon=6001, seed=8, first=5, last=6)  # more than one block of steps
    recorded, steps = runs.room(), []
    ENGINES["reference"].play(runs, recorded, steps.append)
    assert len(steps) > 1
    for_environment, for_policy = map(np.random.default_rng, np.random.SeedSequence(8, spawn_key=(5,)).spawn(2))
    noise, belief = environment.noise(for_environment, 6001), prior
    for t in range(1, 6002):
        arm = t - 1 if t <= 4 else policy._choose(belief, t, for_policy, None)  # unknown arms first
        reward = environment.reward(arm, noise[t - 1])
        assert (recorded["arms"][0, t - 1], recorded["rewards"][0, t - 1]) == (arm, reward)
        belief = belief.observe(arm, reward)
    np.testing.assert_array_equal(recorded["counts"][0], belief.counts)
    assert recorded["initialisation"][0] == 4


def test_it_refuses_nothing():
    assert ENGINES["reference"].refuses(Runs(Alternating(), cb.Beta(arms=4), Stairs(np.zeros(4)), 5, 0, 0, 1)) == ""
