"""The same decisions as `simulate` takes, as others would write the loop: NumPy twice, C, and a JAX scan.

Each takes a problem and returns a function from the noise to the arms. None has an initialisation phase: the prior's
variances lie at its threshold, so that none is due.
"""

from __future__ import annotations

import ctypes
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.problems import NOISE_VARIANCE, Problem, correlated
from corrbandits._core.checks import Array, Integers

Loop = Callable[[Array], Integers]

C_SOURCE = Path(__file__).parent / "step.c"
C_FLAGS = ("-O3", "-march=native", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-fno-math-errno")


def naive(problem: Problem) -> Loop:
    """Return what one writes from the paper: S - c v v', then (S * S) @ (1 / diag S), then the largest limit."""

    def loop(eps: Array) -> Integers:
        mu, S, arms = problem.prior.mean, _covariance(problem), []
        for width, noise in zip(problem.widths, eps, strict=True):
            W = (S * S) @ (1 / S.diagonal())
            arm = int(np.argmax(mu + np.sqrt(W) * width))
            reward = problem.environment.means[arm] + np.sqrt(NOISE_VARIANCE) * noise
            v = S[arm]
            c = 1 / (NOISE_VARIANCE + v[arm])
            mu = mu + c * v * (reward - mu[arm])
            S = S - c * np.outer(v, v)
            arms.append(arm)
        return np.array(arms)

    return loop


def in_place(problem: Problem) -> Loop:
    """Return the same with a preallocated buffer and S -= c v v': no matrix is allocated in the loop."""

    def loop(eps: Array) -> Integers:
        mu, S, arms = problem.prior.mean.copy(), _covariance(problem), np.empty(len(eps), dtype=np.int64)
        means, rewards_noise = problem.environment.means, np.sqrt(NOISE_VARIANCE) * eps
        buffer, diagonal = np.empty_like(S), S.diagonal()
        for t, width in enumerate(problem.widths.tolist()):
            np.multiply(S, S, out=buffer)
            limits = np.sqrt(buffer @ (1 / diagonal))
            limits *= width
            limits += mu
            arm = arms[t] = int(limits.argmax())
            c = 1 / (NOISE_VARIANCE + diagonal[arm])
            v = S[arm].copy()
            cv = c * v
            mu += cv * (means[arm] + rewards_noise[t] - mu[arm])
            np.multiply(cv[:, None], v, out=buffer)
            np.subtract(S, buffer, out=S)
        return arms

    return loop


def step_by_step(problem: Problem) -> Loop:
    """Return our own Python interface, one `choose` and one `observe` per decision."""
    policy, environment = problem.policy, problem.environment

    def loop(eps: Array) -> Integers:
        belief, arms = problem.prior, []
        for t, noise in enumerate(eps.tolist(), start=1):
            arm = policy.choose(belief, t)
            belief = belief.observe(arm, environment.reward(arm, noise))
            arms.append(arm)
        return np.array(arms)

    return loop


def built_c(directory: str | Path) -> Any:
    """Return the C step, built by gcc into a directory; FileNotFoundError if there is no gcc."""
    library = Path(directory) / "step.so"
    subprocess.run(["gcc", *C_FLAGS, "-shared", "-fPIC", "-o", library, C_SOURCE, "-lm"], check=True)
    play = ctypes.CDLL(str(library)).play
    pointer = np.ctypeslib.ndpointer(dtype=np.float64, flags="C_CONTIGUOUS")
    arms = np.ctypeslib.ndpointer(dtype=np.int32, flags="C_CONTIGUOUS")
    play.argtypes = [ctypes.c_long] * 2 + [pointer] * 6 + [ctypes.c_double] + [pointer] * 3 + [arms]
    play.restype = None
    return play


def in_c(problem: Problem, play: Any) -> Loop:
    """Return the C step: one call for the whole run."""
    n = problem.arms

    def loop(eps: Array) -> Integers:
        arms, mu = np.empty(len(eps), dtype=np.int32), problem.prior.mean.copy()
        work = [np.empty(n) for _ in range(4)]
        d, w, g, inverse = work
        given = (problem.widths, problem.environment.means, eps)
        play(n, len(eps), _covariance(problem), d, mu, w, g, inverse, NOISE_VARIANCE, *given, arms)
        return arms

    return loop


def jax_scan(problem: Problem) -> Loop:
    """Return a compiled `jax.lax.scan` in double precision."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    means, widths = jnp.asarray(problem.environment.means), jnp.asarray(problem.widths)

    def step(state: Any, now: Any) -> Any:
        mu, S = state
        width, noise = now
        arm = jnp.argmax(mu + width * jnp.sqrt((S * S) @ (1 / jnp.diagonal(S))))
        reward = means[arm] + jnp.sqrt(NOISE_VARIANCE) * noise
        v = S[arm]
        c = 1 / (NOISE_VARIANCE + v[arm])
        return (mu + c * v * (reward - mu[arm]), S - c * jnp.outer(v, v)), arm

    scan = jax.jit(lambda mu, S, eps: jax.lax.scan(step, (mu, S), (widths, eps))[1])
    start = jnp.asarray(problem.prior.mean), jnp.asarray(_covariance(problem))
    return lambda eps: np.asarray(scan(*start, jnp.asarray(eps)))


def time_naive(shape: tuple[int, int], horizon: int) -> None:
    """Print the least seconds per decision of the naive loop in a process that has done nothing else."""
    problem = correlated(*shape, horizon)
    loop, eps, times = naive(problem), problem.eps(), []
    for _ in range(3):
        begun = time.perf_counter()
        loop(eps)
        times.append((time.perf_counter() - begun) / horizon)
    print(min(times))


def _covariance(problem: Problem) -> Array:
    """Return the prior's covariance, the loop's own to change."""
    return np.array(problem.prior.covariance)
