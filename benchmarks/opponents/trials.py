"""Optimisers that propose trials: Optuna."""

from __future__ import annotations

import numpy as np

from benchmarks.opponents.player import Player
from corrbandits._core.checks import Array


class Optuna(Player):
    """Optuna: ask, and a trial with its value, one parameter per coordinate.

    A coordinate with evenly spaced values is a whole number, any other a float, and the arm next to what was asked
    for is taken. The trial that is added has that arm's own parameters, so that nothing is lost by rounding. It begins
    with 10 random trials, its default. The best arm is that of `best_trial`.
    """

    def __init__(self, coordinates: Array, horizon: int, seed: int, *, sampler: str) -> None:
        import optuna

        super().__init__(coordinates, seed)
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        axes = [_steps(column) for column in self.unit.T]
        self._values = self.unit * [steps or 1 for steps in axes]
        whole, real = optuna.distributions.IntDistribution, optuna.distributions.FloatDistribution
        self._axes = {f"x{k}": whole(0, steps) if steps else real(0.0, 1.0) for k, steps in enumerate(axes)}
        self._study = optuna.create_study(direction="maximize", sampler=getattr(optuna.samplers, sampler)(seed=seed))

    def _decide(self) -> int:
        self._trial = self._study.ask(self._axes)
        asked = np.array([self._trial.params[name] for name in self._axes])
        scale = self._values.max(axis=0)
        return self.largest(-np.square((self._values - asked) / np.where(scale > 0, scale, 1.0)).sum(axis=1))

    def tell(self, arm: int, reward: float) -> None:
        """Put the trial of this arm in the place of the one that was asked for."""
        import optuna

        super().tell(arm, reward)
        self._study.tell(self._trial, state=optuna.trial.TrialState.FAIL)
        values = (
            round(value) if isinstance(axis, optuna.distributions.IntDistribution) else float(value)
            for value, axis in zip(self._values[arm], self._axes.values(), strict=True)
        )
        given = dict(zip(self._axes, values, strict=True))
        trial = optuna.trial.create_trial(params=given, distributions=self._axes, value=reward, user_attrs={"arm": arm})
        self._study.add_trial(trial)

    def best(self) -> int:
        """Return the arm of the largest reward."""
        return int(self._study.best_trial.user_attrs["arm"])


def _steps(column: Array) -> int:
    """Return how many even steps the values of a coordinate make from 0 to 1, or 0 if their steps differ.

    >>> _steps(np.array([0.0, 0.5, 1.0, 0.5])), _steps(np.array([0.0, 0.3, 1.0]))
    (2, 0)
    """
    values = np.unique(column.round(9))
    return len(values) - 1 if np.allclose(np.diff(values), 1 / max(len(values) - 1, 1), atol=1e-8) else 0
