"""A drifting belief whose scale is not known, in a form that changes in place, and how it does: parts of the loops.

name     shape          meaning
parts    G              drifting beliefs of one scale each, their arrays stacked; `mu` and `d` are (G, N)
log_p    (G,)           the logarithm of the posterior probability of each, up to a constant, and `p` the probability
mu, d    (N,)           means and variances of the mixture at the present
lasting  (G,)           for how many decisions what is learnt lasts, and `doubt` how much is doubted then (`horizon`)
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief import Correlated, Drifting, Independent
from corrbandits.policies.horizon import doubts
from corrbandits.simulation.engines.compiled.cache import part
from corrbandits.simulation.engines.compiled.choose import at_lattice, between
from corrbandits.simulation.engines.compiled.drifting_state import DriftingApart, DriftingJoint, drifting_state
from corrbandits.simulation.engines.compiled.drifting_update import observe_drifting, relax_apart, relax_joint
from corrbandits.simulation.engines.compiled.state import record
from corrbandits.simulation.engines.compiled.update import observe_apart

SHARED = ("S0", "mu0", "d0")
"""What is the same under all scales."""


class Scales(NamedTuple):
    """A drifting belief under several scales; w is room for deviations."""

    parts: Any  # DriftingJoint or DriftingApart, stacked but for what they share
    log_p: Array
    p: Array
    each: Array  # (G, N), room for indices
    lasting: Array
    doubt: Array
    mu: Array
    d: Array
    w: Array
    memory: Any  # a record that says whether all is calm


def scales_state(belief: Drifting, threshold: float | Array) -> Scales:
    """Return a belief that has seen nothing in a form that changes in place.

    >>> prior = Correlated(covariance=[[4.0, 1.0], [1.0, 9.0]], noise_variance=1.0)
    >>> scales_state(Drifting(prior=prior, scale=(2.0, 50.0), parts=4), np.inf).parts.d.shape
    (4, 2)
    """
    prior, G = belief.prior, belief.scales.size
    assert isinstance(prior, (Correlated, Independent))
    each = [drifting_state(Drifting(prior=prior, scale=scale), np.inf, printed=False) for scale in belief.scales]
    arrays = zip(each[0]._fields, zip(*each, strict=True), strict=True)
    parts = type(each[0])(*(same[0] if name in SHARED else np.array(same) for name, same in arrays))
    lasting = np.maximum(np.round(belief.scales), 1.0)
    return Scales(
        parts=parts,
        log_p=np.full(G, -math.log(G)),
        p=np.full(G, 1 / G),
        each=np.zeros((G, belief.arms)),
        lasting=lasting,
        doubt=doubts(lasting),
        mu=prior.mean.copy(),
        d=prior.variance.copy(),
        w=np.zeros(belief.arms),
        memory=record(np.dtype([("calm", np.int64)]), calm=bool(np.isinf(threshold).all())),
    )


@part
def joint_at(b: DriftingJoint, g: int) -> Any:
    """Return a belief on correlated arms of one scale."""
    return DriftingJoint(b.S0, b.A[g], b.G[g], b.age[g], b.h[g], b.mu0, b.d0, b.mu[g], b.d[g], b.w[g], b.memory[g])


@part
def apart_at(b: DriftingApart, g: int) -> Any:
    """Return a belief on independent arms of one scale."""
    return DriftingApart(b.mu0, b.d0, b.mu[g], b.d[g], b.w[g], b.memory[g])


@part
def relax_scales_joint(b: Scales) -> None:
    """Let a step of time pass, unless it is the first."""
    for g in range(b.p.size):
        relax_joint(joint_at(b.parts, g))
    mix_scales(b)


@part
def relax_scales_apart(b: Scales) -> None:
    """Let a step of time pass, unless it is the first."""
    for g in range(b.p.size):
        relax_apart(apart_at(b.parts, g))
    mix_scales(b)


@part
def observe_scales_joint(b: Scales, k: int, reward: float, noise: float) -> None:
    """Take a reward of arm k into every part; the mixture follows with the next step of time."""
    judge_scales(b, k, reward, noise)
    for g in range(b.p.size):
        observe_drifting(joint_at(b.parts, g), k, reward, noise)


@part
def observe_scales_apart(b: Scales, k: int, reward: float, noise: float) -> None:
    """Take a reward of arm k into every part; the mixture follows with the next step of time."""
    judge_scales(b, k, reward, noise)
    for g in range(b.p.size):
        observe_apart(apart_at(b.parts, g), k, reward, noise)


@part
def judge_scales(b: Scales, k: int, reward: float, noise: float) -> None:
    """Set how likely each scale is after a reward of arm k; where no scale gave it a density, all are as likely."""
    most, total = -np.inf, 0.0
    for g in range(b.p.size):
        variance, apart = b.parts.d[g, k] + noise, reward - b.parts.mu[g, k]
        b.log_p[g] -= 0.5 * (math.log(variance) + apart * (apart / variance))
        most = max(most, b.log_p[g])
    for g in range(b.p.size):
        b.log_p[g] = b.log_p[g] - most if most > -np.inf else 0.0
        b.p[g] = math.exp(b.log_p[g])
        total += b.p[g]
    for g in range(b.p.size):
        b.p[g] /= total


@part
def mix_scales(b: Scales) -> None:
    """Set means and variances of the mixture."""
    b.mu[:] = 0.0
    b.d[:] = 0.0
    for g in range(b.p.size):
        p, mu = b.p[g], b.parts.mu[g]
        for i in range(b.mu.size):
            b.mu[i] += p * mu[i]
    for g in range(b.p.size):
        p, mu, d = b.p[g], b.parts.mu[g], b.parts.d[g]
        for i in range(b.mu.size):
            apart = mu[i] - b.mu[i]
            b.d[i] += p * (d[i] + apart * apart)


@part
def write_scales(b: Scales, noise: Array, ahead: Array, known: Any, row: Array, out: Array) -> None:
    """Write the mean of the indices under each scale, and some of their deviations (`horizon.Gittins`).

    `ahead` says for how many decisions, and how many deviations that are, `known` is the table of indices.
    """
    log_m, log_n, g_of = known
    apart = 0.0
    out[:] = 0.0
    b.w[:] = 0.0
    for g in range(b.p.size):
        between(min(ahead[0], b.lasting[g]), log_m, g_of, row)
        apart += b.p[g] * min(ahead[1], b.doubt[g])
        for i in range(out.size):
            value, d = b.parts.mu[g, i], b.parts.d[g, i]
            if d > 0.0:
                value += math.sqrt(d) * at_lattice(noise[i] / d, log_n, row)
            b.each[g, i] = value
            out[i] += b.p[g] * value
    for g in range(b.p.size):
        for i in range(out.size):
            b.w[i] += b.p[g] * (b.each[g, i] - out[i]) ** 2
    for i in range(out.size):
        out[i] += apart * math.sqrt(b.w[i])
