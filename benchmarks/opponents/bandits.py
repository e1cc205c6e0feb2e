"""Libraries of bandits: bayesianbandits and PyMAB."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from benchmarks.opponents.player import FIRST, Player, spread
from corrbandits._core.checks import Array


class Bandit(Player):
    """A library whose priors have units: it is told rewards less the mean of the first 5, over their deviation."""

    def __init__(self, coordinates: Array, horizon: int, seed: int) -> None:
        super().__init__(coordinates, seed, FIRST)

    def tell(self, arm: int, reward: float) -> None:
        """Take note of a reward; the first ones are passed on together, once their mean and deviation are known."""
        super().tell(arm, reward)
        if len(self.rewards) >= len(self._start):
            new = slice(None) if len(self.rewards) == len(self._start) else slice(-1, None)
            first = np.array(self.rewards[: len(self._start)])
            values = (np.array(self.rewards[new]) - first.mean()) / (first.std(ddof=1) or 1.0)
            for which, value in zip(self.arms[new], values.tolist(), strict=True):
                self.learn(which, value)

    @abstractmethod
    def learn(self, arm: int, value: float) -> None:
        """Update the library's own object."""


class BayesianBandits(Bandit):
    """bayesianbandits: `LipschitzContextualAgent` with `EmpiricalBayesNormalRegressor`, for what is not known.

    Its "shared features and arm-specific intercepts": a constant, Gaussian bumps around 25 spread-out arms, as wide
    as these are apart, and one indicator per arm. Of its policies those play that lost least on problems to tune on.
    """

    def __init__(self, coordinates: Array, horizon: int, seed: int, *, policy: str) -> None:
        import bayesianbandits as bb
        from bayesianbandits.featurizers import FunctionArmFeaturizer

        super().__init__(coordinates, horizon, seed)
        features = _bumps(self.unit, seed).T
        self._learner, self._features = bb.EmpiricalBayesNormalRegressor(), features.T
        self._agent = bb.LipschitzContextualAgent(
            [bb.Arm(arm) for arm in range(len(coordinates))],
            getattr(bb, policy)(),
            FunctionArmFeaturizer(lambda _, tokens: features[None][:, :, np.asarray(tokens)]),
            self._learner,
            random_seed=seed,
        )

    def learn(self, arm: int, value: float) -> None:
        """Update the agent."""
        self._agent.select_for_update(arm).update(np.ones((1, 1)), np.array([value]))

    def _decide(self) -> int:
        return int(self._agent.pull(np.ones((1, 1)))[0])

    def best(self) -> int:
        """Return the arm of the largest prediction."""
        return self.largest(np.asarray(self._learner.predict(self._features)))


def _bumps(unit: Array, seed: int) -> Array:
    knots = unit[spread(unit, 25, seed)]
    apart = np.sqrt(np.square(knots[:, None] - knots).sum(axis=2))
    width = np.median(np.sort(apart, axis=1)[:, 1])
    distance = np.sqrt(np.square(unit[:, None] - knots).sum(axis=2))
    return np.hstack([np.ones((len(unit), 1)), np.exp(-0.5 * np.square(distance / width)), np.eye(len(unit))])


class PyMAB(Bandit):
    """PyMAB: a policy for Gaussian rewards with its defaults; arms are unrelated to it, their order is shuffled.

    UCB1 is the one in its introduction, Bayesian UCB the one that lost least on problems to tune on.
    """

    def __init__(self, coordinates: Array, horizon: int, seed: int, *, policy: str) -> None:
        from pymab import policies

        super().__init__(coordinates, horizon, seed)
        self._policy = getattr(policies, policy)(n_arms=len(coordinates))
        self._order = self.rng.permutation(len(coordinates))
        self._place = np.argsort(self._order)

    def learn(self, arm: int, value: float) -> None:
        """Update the policy."""
        self._policy.update(action=int(self._place[arm]), reward=value)

    def _decide(self) -> int:
        return int(self._order[self._policy.select_action(rng=self.rng)])

    def best(self) -> int:
        """Return the arm of the largest estimate among those that were taken."""
        taken = np.zeros(len(self._order), dtype=bool)
        taken[self.arms] = True
        return self.largest(np.where(taken, np.asarray(self._policy.estimates)[self._place], -np.inf))
