"""Gaussian processes whose parameters are fitted: scikit-learn and BoTorch."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from functools import cache
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.opponents.player import FIRST, Player
from corrbandits._core.checks import Array


class Surrogate(Player):
    """A model that is fitted anew to all rewards before each decision, and a score for every arm from it."""

    def __init__(self, coordinates: Array, horizon: int, seed: int) -> None:
        super().__init__(coordinates, seed, FIRST)

    @abstractmethod
    def fitted(self) -> Any:
        """Return the model of the rewards so far."""

    @abstractmethod
    def scores(self, model: Any) -> Array:
        """Return how much each arm is worth taking."""

    @abstractmethod
    def means(self, model: Any) -> Array:
        """Return what each arm is expected to yield."""

    def _decide(self) -> int:
        return self.largest(self.scores(self.fitted()))

    def best(self) -> int:
        """Return the arm of the largest expected reward."""
        return self.largest(self.means(self.fitted()))


class ScikitLearn(Surrogate):
    """scikit-learn: constant times Matern 5/2 plus white noise, `normalize_y`, coordinates by `StandardScaler`.

    The parameters are fitted from the kernel's own values and from two random ones. The score is the mean plus 1.96
    deviations of the mean reward: the white noise, which `predict` adds, is taken off.
    """

    def fitted(self) -> Any:
        """Return the regressor."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
        from sklearn.preprocessing import StandardScaler

        self._where = StandardScaler().fit_transform(self.unit)
        kernel = ConstantKernel() * Matern(nu=2.5) + WhiteKernel()
        model = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=2, random_state=self.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return model.fit(self._where[self.arms], self.rewards)

    def scores(self, model: Any) -> Array:
        """Return upper confidence bounds."""
        mean, deviation = model.predict(self._where, return_std=True)
        noise = model.kernel_.k2.noise_level * np.square(np.std(self.rewards) or 1.0)
        return np.asarray(mean + 1.96 * np.sqrt(np.maximum(np.square(deviation) - noise, 0.0)))

    def means(self, model: Any) -> Array:
        """Return the predictions."""
        return np.asarray(model.predict(self._where))


class BoTorch(Surrogate):
    """BoTorch: `SingleTaskGP` as it is, fitted by `fit_gpytorch_mll`, coordinates in the unit cube.

    The score is `UpperConfidenceBound` of some beta, or, without one, `qLogNoisyExpectedImprovement`, which it
    recommends where rewards are noisy. Before the first fit there are 5 Sobol points. With `bayesian`, the model is
    `FullyBayesianSingleTaskGP`, sampled by `fit_fully_bayesian_model_nuts`.
    """

    def __init__(
        self, coordinates: Array, horizon: int, seed: int, *, beta: float | None = None, bayesian: bool = False
    ) -> None:
        import torch

        super().__init__(coordinates, horizon, seed)
        torch.set_num_threads(1)
        self._beta, self._bayesian = beta, bayesian
        self._where = torch.from_numpy(self.unit)
        if bayesian:
            import jax

            _keep_what_jax_compiles()
            jax.clear_caches()  # on disk it stays; kept in memory too, it exhausts the process in a few games

    def fitted(self) -> Any:
        """Return the model."""
        import torch
        from botorch.fit import fit_fully_bayesian_model_nuts, fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.models.fully_bayesian import FullyBayesianSingleTaskGP
        from botorch.models.transforms import Standardize
        from botorch.utils.sampling import manual_seed
        from gpytorch.mlls import ExactMarginalLogLikelihood

        given = self._where[self.arms], torch.tensor(self.rewards, dtype=torch.float64)[:, None]
        with manual_seed(self.seed):
            if not self._bayesian:
                model = SingleTaskGP(*given)
                fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
                return model
            sampled = FullyBayesianSingleTaskGP(*given, outcome_transform=Standardize(m=1))
            fit_fully_bayesian_model_nuts(sampled, disable_progbar=True, seed=self.seed % 2**32)
            return sampled

    def scores(self, model: Any) -> Array:
        """Return the acquisition function at every arm."""
        import torch
        from botorch.acquisition import UpperConfidenceBound
        from botorch.acquisition.logei import qLogNoisyExpectedImprovement
        from botorch.utils.sampling import manual_seed

        with manual_seed(self.seed), torch.no_grad():
            if self._beta is None:
                worth = qLogNoisyExpectedImprovement(model, self._where[sorted(set(self.arms))])
            else:
                worth = UpperConfidenceBound(model, beta=self._beta)
            return np.asarray(worth(self._where[:, None, :]).numpy())

    def means(self, model: Any) -> Array:
        """Return the posterior means."""
        import torch

        with torch.no_grad():
            posterior = model.posterior(self._where)
            return np.asarray((posterior.mixture_mean if self._bayesian else posterior.mean)[:, 0].numpy())


@cache
def _keep_what_jax_compiles() -> TemporaryDirectory[str]:
    """Have JAX keep what it compiles for each number of rewards, until this process ends: later games are faster."""
    import jax

    folder = TemporaryDirectory()
    jax.config.update("jax_compilation_cache_dir", folder.name)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    return folder
