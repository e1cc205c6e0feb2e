"""A study's prior of which something is not taken for known any more, but learnt; for a copy of the study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief import Belief, Correlated, Implicit, Independent, Vague
from corrbandits.kernels import KERNELS, Kernel

LEARNABLE = {"mean": "mean", "sd": "sd", "length": "length", "noise": "noise_sd"}
"""What may be learnt, and what `Vague` calls it."""


def told_less(prior: Belief, learn: Sequence[str]) -> Vague:
    """Return a prior that is told the same, but for what is to be learnt: some of mean, sd, length and noise.

    >>> from corrbandits import Exponential
    >>> prior = Correlated(mean=3.0, kernel=4 * Exponential(2.0), coordinates=[0.0, 1.0], noise_variance=1.0)
    >>> told_less(prior, ["length"]).in_words()
    'told mean 3, deviation 2, noise 1, site share 0; the rest is learnt'
    """
    for name in learn:
        if name not in LEARNABLE:
            raise ValueError(f"`learn` must be one of {', '.join(LEARNABLE)}, got {name!r:.60}.")
    return Vague(**(_told(prior, learn) | {LEARNABLE[name]: None for name in learn}))


def _told(prior: Belief, learn: Sequence[str]) -> dict[str, Any]:
    """Return what a prior states, as the arguments of `Vague`; what is to be learnt may differ from arm to arm."""
    given = prior.prior_arguments()
    if isinstance(prior, Vague):
        return given
    if not isinstance(prior, (Independent, Correlated, Implicit)):
        raise _refused(prior)
    noise = np.sqrt(prior.noise_variance)
    each = {"mean": prior.mean, "sd": np.sqrt(prior.variance)}
    told = {name: None if name in learn else _same(prior, values) for name, values in each.items()}
    told |= {"noise_sd": noise.item(0), "relative_noise": noise / noise[0]}
    if isinstance(prior, Independent):
        return {"arms": prior.arms, **told}
    return {"coordinates": given.get("coordinates"), "site": 0.0, **told, **_of_kernel(prior, given.get("kernel"))}


def _of_kernel(prior: Belief, kernel: Any) -> dict[str, Any]:
    factors = kernel.factored() if isinstance(kernel, Kernel) else None
    if factors is None:
        raise _refused(prior)
    family = factors[1]
    name = next(
        (name for name, kind in KERNELS.items() if family == kind(family.length, distance=family.distance)), None
    )
    if name is None or not isinstance(family.length, float):
        raise _refused(prior)
    return {"kernel": name, "length": family.length, "distance": family.distance}


def _same(prior: Belief, values: Array) -> float:
    if not np.ptp(values) <= 1e-12 * abs(values[0]):
        raise _refused(prior)
    return values.item(0)


def _refused(prior: Belief) -> ValueError:
    return ValueError(
        "what is to be learnt, or lies in a range, must be of a prior of one mean, one sd and at most one kernel of "
        f"one length, but the study's is {type(prior).__name__}: {prior.in_words()}. Copy it from Python, with prior=."
    )
