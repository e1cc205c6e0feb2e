"""The choice rules as a sampler of Optuna's.

What the sampler knows it reads from the study's trials at each choice, so it holds no state: workers that share a
storage, a reopened study and an interrupted one go on as if nothing had happened.
"""

from __future__ import annotations

import math
import os
import threading
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, final

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from corrbandits._core import checks
from corrbandits.adapters.search_space import SearchSpace, Value
from corrbandits.belief import Belief, Correlated, GaussianBelief, Vague
from corrbandits.kernels import Covariance
from corrbandits.policies import CorrelatedUCL, Policy, recommend

CHOICE = "corrbandits:choice"
"""The system attribute of a trial that holds the point chosen for it, so that others see it before it is suggested."""

_choosing = threading.Lock()  # so that threads of one process see each other's choices


def _after_fork() -> None:
    """Begin anew in a forked child: the thread that held the lock does not exist there."""
    global _choosing
    _choosing = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@final
class CorrelatedUCLSampler(BaseSampler):
    """A policy as an Optuna sampler: it chooses among the values of one parameter, or the points of a grid of several.

    `search_space` gives each parameter's values, as a list or as an Optuna distribution that has finitely many. It
    needs no more: without a `prior` it is told nothing, and learns from the trials how far neighbouring values are
    alike (`Vague`). Numbers then lie evenly in their order, values of other kinds equally far from each other.
    `n_trials` is how many trials there will be in all, if that is known.

    The arms of a `prior` of your own are the points row by row: parameters in the order given, the values of the last
    one changing fastest, as in `itertools.product(*search_space.values())`. The prior is on the objective's own values;
    a study that minimises chooses from the mirrored prior and values. Unless a `policy` is given it is
    `CorrelatedUCL()` on a Gaussian prior, and otherwise what `recommend(prior, n_trials)` says.

    Trials that are complete are observed, whatever their order. Of those that are running the rewards are awaited
    (`Belief.assume`), so parallel workers spread out; a trial whose worker has died is awaited until it is told as
    failed. Two processes that choose in the same instant may choose alike. Failed and pruned trials are ignored, as
    by Optuna's own samplers: a policy without randomness then chooses the same point again, so tell a bad value, or
    leave the point out, where none can ever be measured. Ignored with a warning are complete trials of an infinite
    value, and those that lie off the grid, such as enqueued ones.

    A trial that was enqueued with some of the parameters is given the best of the points that have these. A parameter
    outside of the search space is refused, unless there is an `independent_sampler` for it. Randomised policies draw
    from a stream of `seed` and the trial's number.

    >>> import optuna
    >>> from corrbandits import SquaredExponential
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> sampler = CorrelatedUCLSampler({"dose": range(21)}, n_trials=20)
    >>> study = optuna.create_study(direction="minimize", sampler=sampler)
    >>> study.optimize(lambda trial: (trial.suggest_int("dose", 0, 20) - 14) ** 2, n_trials=20)
    >>> [trial.params["dose"] for trial in study.trials][:5], study.best_params
    ([10, 0, 20, 5, 15], {'dose': 14})

    With a prior of one's own:

    >>> kernel = 1000 * SquaredExponential(5.0)
    >>> sampler = CorrelatedUCLSampler.from_kernel({"dose": range(21)}, kernel, mean=50.0, noise_variance=1.0)
    >>> study = optuna.create_study(direction="minimize", sampler=sampler)
    >>> study.optimize(lambda trial: (trial.suggest_int("dose", 0, 20) - 14) ** 2, n_trials=20)
    >>> [trial.params["dose"] for trial in study.trials][:5], study.best_params
    ([0, 20, 10, 5, 15], {'dose': 14})
    """

    def __init__(
        self,
        search_space: Mapping[str, Iterable[Value] | BaseDistribution],
        prior: Belief | None = None,
        *,
        policy: Policy | None = None,
        n_trials: int | None = None,
        seed: int = 0,
        independent_sampler: BaseSampler | None = None,
    ) -> None:
        self._space = SearchSpace(search_space)
        prior = Vague(coordinates=self._space.places()) if prior is None else prior
        self._seed, self._others = checks.integer("seed", seed, least=0), independent_sampler
        if not isinstance(prior, Belief):
            raise TypeError(f"prior must be a belief such as Correlated(...), got {prior!r:.60}.")
        trials = None if n_trials is None else checks.integer("n_trials", n_trials, least=1)
        named = CorrelatedUCL() if isinstance(prior, GaussianBelief) else recommend(prior, trials).policy
        self._prior, self._policy = prior, named if policy is None else policy
        if not isinstance(self._policy, Policy):
            raise TypeError(f"policy must be a policy such as CorrelatedUCL(), got {policy!r:.60}.")
        if prior.arms != self._space.arms:
            raise ValueError(f"the prior has {prior.arms} arms, but the search space has {self._space.arms} points.")
        self._policy.pending(prior)  # refuses here the kind of belief it would refuse at the first choice

    @classmethod
    def from_kernel(
        cls,
        search_space: Mapping[str, Iterable[Value] | BaseDistribution],
        kernel: Covariance,
        *,
        noise_variance: Any,
        mean: Any = 0.0,
        policy: Policy | None = None,
        seed: int = 0,
        independent_sampler: BaseSampler | None = None,
    ) -> CorrelatedUCLSampler:
        """Return a sampler whose prior is `Correlated`, with the parameters' values, numbers all, for coordinates.

        >>> sampler = CorrelatedUCLSampler.from_kernel({"x": [0.1, 1.0, 10.0]}, lambda x, y: x @ y.T, noise_variance=1)
        >>> str(sampler)
        'CorrelatedUCLSampler'
        """
        where = SearchSpace(search_space).coordinates()
        prior = Correlated(mean=mean, kernel=kernel, coordinates=where, noise_variance=noise_variance)
        return cls(search_space, prior, policy=policy, seed=seed, independent_sampler=independent_sampler)

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return nothing: whether the objective suggests a category, an int or a float is seen when it does."""
        return {}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return nothing; see `infer_relative_search_space`."""
        return {}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Return the parameter's value at the point of this trial, chosen when the first parameter is suggested."""
        if param_name not in self._space.values:
            return self._elsewhere(study, trial, param_name, param_distribution)
        self._space.refuse_another(param_name, param_distribution)
        value = self._point(study, trial)[param_name]
        return param_distribution.to_external_repr(param_distribution.to_internal_repr(value))  # 3.0 of a float's 3

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Tell the independent sampler, if there is one."""
        if self._others is not None:
            self._others.before_trial(study, trial)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Tell the independent sampler, if there is one."""
        if self._others is not None:
            self._others.after_trial(study, trial, state, values)

    def reseed_rng(self) -> None:
        """Reseed the independent sampler, if there is one; the policy's streams differ from trial to trial anyway."""
        if self._others is not None:
            self._others.reseed_rng()

    def _elsewhere(self, study: Study, trial: FrozenTrial, name: str, distribution: BaseDistribution) -> Any:
        if self._others is None:
            raise ValueError(
                f"parameter {name!r} is none of the search space's, {list(self._space.values)!r:.60}. Declare its "
                "values there, or say who chooses it: independent_sampler=optuna.samplers.RandomSampler(seed=0)."
            )
        return self._others.sample_independent(study, trial, name, distribution)

    def _point(self, study: Study, trial: FrozenTrial) -> Mapping[str, Value]:
        """Return the trial's point, noted in the storage once it is chosen."""
        with _choosing:
            noted: Mapping[str, Value] = trial.system_attrs.get(CHOICE, {})
            if self._space.arm(noted) is None:
                noted = self._space.point(self._choose(study, trial))
                study._storage.set_trial_system_attr(trial._trial_id, CHOICE, noted)
            return noted

    def _choose(self, study: Study, trial: FrozenTrial) -> int:
        arms, values, awaited = self._history(study)
        belief = self._believed(study, arms, values)
        return self._policy.choose(
            belief.assume(awaited) if awaited else belief,
            1 + len(arms) + len(awaited),
            rng=np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(trial.number,))),
            allowed=self._space.arms_with({**trial.system_attrs.get("fixed_params", {}), **trial.params}),
        )

    def _believed(self, study: Study, arms: list[int], values: list[float]) -> Belief:
        """Return the belief after these values, computed from the prior at once: their order cannot matter."""
        if len(study.directions) > 1:
            raise ValueError(
                f"CorrelatedUCLSampler chooses by one objective, but the study has {len(study.directions)}. Let the "
                "objective return one number, such as a weighted sum of them."
            )
        if study.direction == StudyDirection.MAXIMIZE:
            return self._prior.observe(arms, values)
        return self._turned.observe(arms, [self._prior.mirror - value for value in values])

    @cached_property
    def _turned(self) -> Belief:
        """The prior with the rewards turned round, also those it has seen."""
        return self._prior.mirrored()

    def _history(self, study: Study) -> tuple[list[int], list[float], list[int]]:
        """Return the arms and values of complete trials, and the arms of the running ones; this one has none yet.

        They come from the storage itself: a pruner in brackets would show the trials of one bracket.
        """
        arms, values, awaited = [], [], []
        states = (TrialState.COMPLETE, TrialState.RUNNING)
        for trial in study._storage.get_all_trials(study._study_id, deepcopy=False, states=states):
            if trial.state == TrialState.COMPLETE:
                if (arm := self._told(trial)) is not None:
                    arms.append(arm)
                    values.append(float(trial.values[0]))
            elif (arm := self._space.arm(_intended(trial))) is not None:
                awaited.append(arm)
        return arms, values, awaited

    def _told(self, trial: FrozenTrial) -> int | None:
        """Return the arm of a complete trial; warn where nothing can be learnt from it."""
        arm = self._space.arm(trial.params)
        if arm is None and set(trial.params) < set(self._space.values):  # the objective left out some
            arm = self._space.arm(_intended(trial))
        if arm is None:
            _warn(trial, f"its parameters {trial.params!r:.80} are no point of the search space")
        elif not math.isfinite(trial.values[0]):
            _warn(trial, f"its value is {trial.values[0]}; tell a finite one, however bad")
            return None
        return arm


def _intended(trial: FrozenTrial) -> dict[str, Value]:
    """Return the parameters a running trial has or will have: chosen for it, enqueued with it, suggested already."""
    known = trial.system_attrs
    return {**known.get(CHOICE, {}), **known.get("fixed_params", {}), **trial.params}


def _warn(trial: FrozenTrial, why: str) -> None:
    warnings.warn(f"CorrelatedUCLSampler ignores trial {trial.number}: {why}.", stacklevel=2)
