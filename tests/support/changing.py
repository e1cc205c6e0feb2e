"""An environment whose mean rewards change with time, and a belief that expects it: neither is of the package."""

import numpy as np

from corrbandits._core.tally import Tally
from corrbandits.belief import GaussianBelief
from corrbandits.environments import Environment


class Switching(Environment):
    """Gaussian rewards whose means are others from time `at` on."""

    def __init__(self, before, after, at):
        super().__init__(before)
        self.after, self.at, self.noise_variance = np.asarray(after), at, np.ones(self.arms)

    def noise(self, rng, horizon):
        return rng.standard_normal(horizon)

    def means_at(self, t):
        return self.means if t < self.at else self.after

    def reward(self, arm, noise, *, t=1):
        return float(self.means_at(t)[arm] + noise)


class Drifting(GaussianBelief):
    """Independent arms whose mean rewards are random walks: from one time to the next their variance grows."""

    def __init__(self, *, mean=0.0, variance=4.0, noise_variance=1.0, drift, arms):
        self._given = {"mean": mean, "variance": variance, "noise_variance": noise_variance, "drift": drift}
        self.mean, self.variance = np.full(arms, mean), np.full(arms, variance)
        self.noise_variance, self._tally, self.time = np.full(arms, noise_variance), Tally.empty(arms), 1

    def after(self, time):
        grown = self.variance + self._given["drift"] * (time - self.time)
        return self._changed(variance=grown, time=time)

    def replay(self, history):
        belief = self
        for time, arm, reward in history.steps():
            belief = belief.after(time).observe(arm, reward)
        return belief

    def _updated(self, arm, reward):
        mean, variance = self.mean.copy(), self.variance.copy()
        share = variance[arm] / (variance[arm] + self.noise_variance[arm])
        mean[arm] += share * (reward - mean[arm])
        variance[arm] *= 1 - share
        return self._changed(mean=mean, variance=variance, _tally=self._tally.plus([(arm, 1, reward)]))

    def _conditioned(self, tally):
        raise TypeError("a Drifting belief needs the times of rewards: replay them.")

    def _shrunk(self, awaited):
        return self

    def _same_prior(self, other):
        return self._given == other._given

    def prior_arguments(self):
        return {**self._given, "arms": self.arms}

    def covariance_with(self, arm):
        return np.where(np.arange(self.arms) == arm, self.variance, 0.0)

    def spread(self):
        return np.ones(self.arms)

    def sample(self, rng):
        return self.mean + np.sqrt(self.variance) * rng.standard_normal(self.arms)


def drifted(steps, now, *, arm, drift, mean=0.0, variance=4.0, noise_variance=1.0):
    """Mean and variance of one arm of a `Drifting` prior at a time, by conditioning all its rewards at once."""
    times = np.array([time for time, of, _ in steps if of == arm], dtype=float)
    rewards = np.array([reward for _, of, reward in steps if of == arm])
    walk = variance + drift * (np.minimum.outer(times, times) - 1)
    with_now = variance + drift * (times - 1)
    weights = np.linalg.solve(walk + noise_variance * np.eye(times.size), with_now)
    return mean + weights @ (rewards - mean), variance + drift * (now - 1) - weights @ with_now
