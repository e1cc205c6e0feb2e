"""People who are made up: choices drawn from a model, on given problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from corrbandits._core import checks
from corrbandits.choices.likelihood import Problem
from corrbandits.choices.model import Model
from corrbandits.choices.people import Person, Round
from corrbandits.environments import Environment, reward_at

Seed = int | Sequence[int] | np.random.SeedSequence


def simulate(
    model: Model,
    values: Mapping[str, float],
    environments: Sequence[Environment],
    *,
    horizon: int | Sequence[int],
    given: int = 1,
    seed: Seed = 0,
    name: Any = "",
) -> Person:
    """Return a person who chooses as the model says, in one round on each of the environments.

    `horizon` is how many choices there are, in all rounds or in each; `given` how many arms, drawn at random, are shown
    before. Every round has random numbers of its own: a round is the same whatever the others are.

    >>> from corrbandits import GaussianBandit, UCL
    >>> easy = GaussianBandit([0.0, 5.0], noise_variance=1.0)
    >>> ben = simulate(Model(rule=UCL()), {"prior_mean": 2.0, "prior_sd": 3.0, "temperature": 0.1}, [easy], horizon=20)
    >>> ben.choices, int(ben.rounds[0].arms[-1])
    (20, 1)
    """
    lengths = _lengths(horizon, len(environments))
    checks.integer("given", given, least=0)
    known, where = model.complete(values), _where(environments)
    rounds = [
        _Game(each, given, length, s)
        for each, length, s in zip(environments, lengths, _seeds(seed, len(lengths)), strict=True)
    ]
    for step in range(max(lengths, default=0)):
        playing = [game for game in rounds if step < game.horizon]
        so_far = Person([game.round(1) for game in playing], coordinates=where, arms=environments[0].arms)
        laws = Problem(so_far, model).probabilities(known)
        for game, law in zip(playing, laws[step :: step + 1], strict=True):
            game.take(law, step)
    return Person([game.round(0) for game in rounds], coordinates=where, arms=_arms(environments), name=name)


class _Game:
    """A round while it is played: the random numbers for all of it are drawn ahead."""

    def __init__(self, environment: Environment, given: int, horizon: int, seed: np.random.SeedSequence) -> None:
        noise, choices = (np.random.default_rng(s) for s in seed.spawn(2))
        self.environment, self.given, self.horizon = environment, given, horizon
        self._noise = environment.noise(noise, given + horizon).tolist()
        self._uniform = choices.random(horizon).tolist()
        self.arms: list[int] = []
        self.rewards: list[float] = []
        for arm in choices.integers(environment.arms, size=given).tolist():
            self._pull(arm)

    def round(self, more: int) -> Round:
        """Return the trials so far, and so many that only hold a place."""
        arms, rewards = self.arms + [0] * more, self.rewards + [0.0] * more
        return Round(np.array(arms, np.int64), rewards, given=self.given, horizon=self.horizon)

    def take(self, law: Any, step: int) -> None:
        """Draw an arm from a law, and its reward."""
        total = law.cumsum()
        self._pull(min(int(np.searchsorted(total, self._uniform[step] * total[-1], side="right")), law.size - 1))

    def _pull(self, arm: int) -> None:
        t = len(self.arms)
        self.arms.append(arm)
        self.rewards.append(reward_at(self.environment, arm, self._noise[t], t + 1))


def _lengths(horizon: Any, rounds: int) -> list[int]:
    if isinstance(horizon, (int, np.integer)):
        return [checks.integer("horizon", horizon, least=1)] * rounds
    each = [checks.integer("horizon", h, least=1) for h in horizon]
    if len(each) != rounds:
        raise ValueError(f"horizon must be one number, or one for each of {rounds} environments, got {len(each)}.")
    return each


def _seeds(seed: Seed, number: int) -> list[np.random.SeedSequence]:
    root = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return root.spawn(number)


def _arms(environments: Sequence[Environment]) -> int:
    numbers = {each.arms for each in environments}
    if len(numbers) != 1:
        raise ValueError(f"environments must be at least one, with as many arms each, got {sorted(numbers)} arms.")
    return numbers.pop()


def _where(environments: Sequence[Environment]) -> Any:
    _arms(environments)
    where = environments[0].coordinates
    places = [None if each.coordinates is None else each.coordinates.tolist() for each in environments]
    if any(place != places[0] for place in places):
        raise ValueError("environments of one person must have their arms at the same places, but they differ.")
    return where
