"""The same work on the same device, all runs at once, as one would write it with JAX and with torch.

Each function takes a problem and returns one that plays so many runs and returns their arms, (runs, decisions). Noise
is drawn on the device, or given: then the arms must be ours. The covariances are whole matrices, which is how these
libraries are fast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.problems import Problem
from corrbandits import Correlated

Play = Callable[..., Any]


def _start(problem: Problem) -> Any:
    """Return what is believed first: a covariance, or variances; the largest double stands for infinity."""
    prior = problem.prior
    if isinstance(prior, Correlated):
        return prior.covariance.copy()
    return np.minimum(prior.variance, 1e300)


def in_jax(problem: Problem) -> Play:
    """Return runs by `jax.lax.scan` over decisions, a batch in each step."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    means, deviations = (
        jnp.asarray(problem.environment.means),
        jnp.sqrt(jnp.asarray(problem.environment.noise_variance)),
    )
    noise, widths = jnp.asarray(problem.prior.noise_variance), jnp.asarray(problem.widths)
    joint, printed = isinstance(problem.prior, Correlated), getattr(problem.policy, "factor", False)

    def step(belief: Any, given: Any) -> Any:
        (mu, S), (width, eps) = belief, given
        d = jnp.diagonal(S, axis1=1, axis2=2) if joint else S
        w = jnp.sqrt((S**2 / d[:, None, :]).sum(-1) if joint and printed else d)
        k = jnp.argmax(mu + width * w, axis=1)[:, None]
        surprise = means[k] + deviations[k] * eps[:, None] - jnp.take_along_axis(mu, k, 1)
        c = 1 / (noise[k] + jnp.take_along_axis(d, k, 1))
        if joint:
            h = jnp.take_along_axis(S, k[:, :, None], 1)[:, 0]
            return (mu + h * c * surprise, S - (c * h)[:, :, None] * h[:, None, :]), k[:, 0]
        one = jnp.arange(mu.shape[1]) == k
        return (jnp.where(one, mu + d * c * surprise, mu), jnp.where(one, noise * d * c, d)), k[:, 0]

    @jax.jit
    def scanned(belief: Any, eps: Any) -> Any:
        return jax.lax.scan(step, belief, (widths, eps))[1]

    def play(runs: int, eps: Any = None, seed: int = 0) -> Any:
        mean, S = problem.prior.mean, _start(problem)
        belief = tuple(jnp.asarray(np.broadcast_to(one, (runs, *one.shape))) for one in (mean, S))
        drawn = jax.random.normal(jax.random.key(seed), (problem.horizon, runs)) if eps is None else jnp.asarray(eps.T)
        return np.asarray(scanned(belief, drawn)).T

    return play


def in_torch(problem: Problem, device: str = "cuda") -> Play:
    """Return runs by a loop over decisions, a batch in each step, in place."""
    import torch

    def there(array: Any) -> Any:
        return torch.as_tensor(np.array(array, dtype=np.float64), device=device)

    means, deviations = there(problem.environment.means), there(np.sqrt(problem.environment.noise_variance))
    noise, widths = there(problem.prior.noise_variance), problem.widths.tolist()
    joint, printed = isinstance(problem.prior, Correlated), getattr(problem.policy, "factor", False)

    @torch.inference_mode()
    def play(runs: int, eps: Any = None, seed: int = 0) -> Any:
        mu, S = (there(one).expand(runs, *one.shape).clone() for one in (problem.prior.mean, _start(problem)))
        generator = torch.Generator(device).manual_seed(seed)
        shape = problem.horizon, runs
        drawn = torch.randn(shape, generator=generator, device=device, dtype=mu.dtype) if eps is None else there(eps.T)
        arms = torch.empty(shape, dtype=torch.int64, device=device)
        d = S.diagonal(dim1=1, dim2=2) if joint else S
        for t, width in enumerate(widths):
            w = ((S * S) @ d.reciprocal().unsqueeze(2)).squeeze(2).sqrt() if joint and printed else d.sqrt()
            k = torch.argmax(mu + width * w, dim=1, keepdim=True)
            arms[t] = k[:, 0]
            surprise = means[k] + deviations[k] * drawn[t].unsqueeze(1) - mu.gather(1, k)
            own = d.gather(1, k)
            c = 1 / (noise[k] + own)
            if joint:
                h = S.gather(1, k.unsqueeze(2).expand(-1, 1, S.shape[2])).squeeze(1)
                mu.addcmul_(h, c * surprise)
                S.baddbmm_((c * h).unsqueeze(2), h.unsqueeze(1), alpha=-1)
            else:
                mu.scatter_add_(1, k, own * c * surprise)
                S.scatter_(1, k, noise[k] * own * c)
        return arms.T.cpu().numpy()

    return play
