"""Packages that can take the same decisions, or the nearest they offer.

scikit-learn and BoTorch are given the same kernel, never fitted, and the observations aggregated per arm (their mean,
with the noise's variance over the count), which is all that inference needs; they must choose the same arms. The
others have no index like ours and choose by their own: see what each function says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.loops import Loop
from benchmarks.problems import LENGTH, MEAN, NOISE_VARIANCE, VARIANCE, Problem
from corrbandits._core.checks import Array, Integers

Posterior = Callable[[Integers, Array, Array], Callable[[float], Array]]
"""Arms seen, their mean rewards less the prior's mean, and the variances of these: what gives the limits at a width,
less the prior's mean."""


def scikit_learn(problem: Problem) -> Posterior:
    """Return limits by `GaussianProcessRegressor`: a new fit per decision, all arms predicted."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern

    where = problem.environment.coordinates
    kernel = ConstantKernel(VARIANCE, "fixed") * Matern(LENGTH, "fixed", nu=0.5)

    def posterior(seen: Integers, offsets: Array, variances: Array) -> Callable[[float], Array]:
        model = GaussianProcessRegressor(kernel, alpha=variances, optimizer=None, copy_X_train=False)
        mean, deviation = model.fit(where[seen], offsets).predict(where, return_std=True)
        return lambda width: mean + width * deviation

    return posterior


def botorch(problem: Problem) -> Posterior:
    """Return limits by `UpperConfidenceBound` on a `SingleTaskGP`, double precision, no gradients, no transforms."""
    import torch
    from botorch.acquisition import UpperConfidenceBound
    from botorch.models import SingleTaskGP
    from botorch.settings import validate_input_scaling
    from gpytorch.kernels import MaternKernel, ScaleKernel
    from gpytorch.means import ZeroMean
    from gpytorch.settings import max_cholesky_size

    torch.set_num_threads(1)
    where = torch.from_numpy(np.array(problem.environment.coordinates))
    kernel = ScaleKernel(MaternKernel(nu=0.5)).double()
    kernel.outputscale, kernel.base_kernel.lengthscale = VARIANCE, LENGTH

    def posterior(seen: Integers, offsets: Array, variances: Array) -> Callable[[float], Array]:
        targets, noise = torch.from_numpy(offsets)[:, None], torch.from_numpy(variances)[:, None]
        # exact inference at every size: above 800 points the default is an iterative solver
        with torch.no_grad(), validate_input_scaling(False), max_cholesky_size(10**6):
            given = {"covar_module": kernel, "mean_module": ZeroMean(), "outcome_transform": None}
            model = SingleTaskGP(where[torch.from_numpy(seen)], targets, noise, **given)

            def limits(width: float) -> Array:
                with torch.no_grad(), max_cholesky_size(10**6):
                    return np.asarray(UpperConfidenceBound(model, beta=width**2)(where[:, None, :]).numpy())

            return limits

    return posterior


def aggregating(problem: Problem, posterior: Posterior) -> Loop:
    """Return the loop that asks a peer for the limits before each decision; the first is the prior's."""
    prior_mean, means = problem.prior.mean, problem.environment.means

    def loop(eps: Array) -> Integers:
        counts, sums, arms = np.zeros(problem.arms), np.zeros(problem.arms), []
        for width, noise in zip(problem.widths[: len(eps)].tolist(), eps.tolist(), strict=True):
            arm = decide(posterior, prior_mean, counts, sums, width)
            counts[arm] += 1
            sums[arm] += means[arm] + np.sqrt(NOISE_VARIANCE) * noise
            arms.append(arm)
        return np.array(arms)

    return loop


def decide(posterior: Posterior, prior_mean: Array, counts: Array, sums: Array, width: float) -> int:
    """Return the arm of largest limit by a peer's posterior; before any reward variances are equal, means decide."""
    seen = np.flatnonzero(counts)
    if not seen.size:
        return int(prior_mean.argmax())
    offsets, variances = sums[seen] / counts[seen] - prior_mean[seen], NOISE_VARIANCE / counts[seen]
    return int((prior_mean + posterior(seen, offsets, variances)(width)).argmax())


def bayesianbandits(problem: Problem, policy: str) -> Loop:
    """Return its Gaussian linear model on the rows of the prior's Cholesky factor: the same belief as ours.

    Weights N(0, I) on those rows are the prior; its mean, the same for every arm, is taken off the rewards. Its upper
    confidence bound is a quantile of 1,000 draws at one fixed level, and its Thompson sampling one draw, where ours
    is the exact quantile at a level that rises with t: the arms differ.
    """
    from bayesianbandits import Arm, LipschitzContextualAgent, NormalRegressor, ThompsonSampling, UpperConfidenceBound
    from bayesianbandits.featurizers import FunctionArmFeaturizer

    factor = np.linalg.cholesky(problem.prior.covariance)
    features = np.ascontiguousarray(factor.T)  # (features, arms)
    context, means = np.ones((1, 1)), problem.environment.means - MEAN
    rules = {"Thompson sampling": ThompsonSampling, "UpperConfidenceBound": lambda: UpperConfidenceBound(alpha=0.999)}

    def loop(eps: Array) -> Integers:
        agent: Any = LipschitzContextualAgent(
            [Arm(arm) for arm in range(problem.arms)],
            rules[policy](),
            FunctionArmFeaturizer(lambda _, tokens: features[None][:, :, np.asarray(tokens)]),
            NormalRegressor(alpha=1.0, beta=1 / NOISE_VARIANCE),
            random_seed=0,
        )
        arms = []
        for noise in eps.tolist():
            (arm,) = agent.pull(context)
            agent.update(context, np.array([means[arm] + np.sqrt(NOISE_VARIANCE) * noise]))
            arms.append(arm)
        return np.array(arms)

    return loop


def pymab(problem: Problem) -> Callable[[int], Any]:
    """Return its own compiled simulation of UCB1 on the same means, for so many runs; the noise is its own."""
    from pymab.distributions import GaussianReward
    from pymab.environments import BanditEnvironment
    from pymab.policies import UCBPolicy
    from pymab.simulation import Experiment, ExperimentConfig

    scale = float(np.sqrt(NOISE_VARIANCE))
    environment = BanditEnvironment(problem.environment.means, GaussianReward(scale))
    policy = UCBPolicy(n_arms=problem.arms, reward_scale=scale)

    def play(runs: int) -> Any:
        config = ExperimentConfig(horizon=problem.horizon, n_replicates=runs, seed=0, backend="rust")
        return Experiment(environment=environment, policies={"UCB1": policy}, config=config).run()

    return play


def pymab_steps(problem: Problem) -> Loop:
    """Return its UCB1 asked and told from Python, one decision at a time."""
    from pymab.policies import UCBPolicy

    scale, means = float(np.sqrt(NOISE_VARIANCE)), problem.environment.means.tolist()

    def loop(eps: Array) -> Integers:
        policy, rng, arms = UCBPolicy(n_arms=problem.arms, reward_scale=scale), np.random.default_rng(0), []
        for noise in eps.tolist():
            arm = policy.select_action(rng=rng)
            policy.update(action=arm, reward=means[arm] + scale * noise)
            arms.append(arm)
        return np.array(arms)

    return loop


def river(problem: Problem) -> Loop:
    """Return its UCB1 (`UCB` with the noise's deviation as scale), one `pull` and one `update` per decision."""
    from river import bandit

    scale, means, names = float(np.sqrt(NOISE_VARIANCE)), problem.environment.means.tolist(), range(problem.arms)

    def loop(eps: Array) -> Integers:
        policy, arms = bandit.UCB(delta=scale, seed=0), []
        for noise in eps.tolist():
            arm = policy.pull(names)
            policy.update(arm, means[arm] + scale * noise)
            arms.append(arm)
        return np.array(arms)

    return loop
