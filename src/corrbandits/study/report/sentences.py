"""A study's prior, its noise and its times in words."""

from __future__ import annotations

import math
import re
import shlex
from typing import Any

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief import Belief, Beta, Correlated, GaussianBelief, Implicit, Independent
from corrbandits.kernels import Scaled, Stationary, WithDeviations
from corrbandits.policies import Policy
from corrbandits.study.codec import fields_of
from corrbandits.study.report.inference import NoiseCheck, Surprise

UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def prior_in_words(prior: Belief) -> str:
    """Return what a prior says.

    >>> from corrbandits import Exponential
    >>> prior_in_words(Correlated(mean=30.0, kernel=4 * Exponential(3.0), coordinates=[0, 1], noise_variance=9.0))
    'exponential kernel of length 3, mean 30 ± 2; noise ± 3'
    """
    if isinstance(prior, Beta):
        return "independent arms, rewards 0 or 1"
    given = prior.prior_arguments()
    if "beliefs" in given:
        first = prior_in_words(given["beliefs"][0])
        return f"{type(prior).__name__} of {len(given['beliefs'])} beliefs, the first: {first}"
    if isinstance(prior, (Correlated, Implicit)):
        what = kernel_in_words(given["kernel"]) if "kernel" in given else "a covariance of all arms"
    else:
        what = "independent arms" if isinstance(prior, Independent) else type(prior).__name__
    deviations = np.sqrt(prior.variance)
    level = f"mean {_span(prior.mean)} ± {_span(deviations)}"
    if not np.isfinite(deviations).any():
        level = "of which nothing is known"
    noise = f"; noise ± {_span(np.sqrt(prior.noise_variance))}" if isinstance(prior, GaussianBelief) else ""
    return f"{what}, {level}{noise}"


def kernel_in_words(kernel: Any) -> str:
    """Return what a kernel is called."""
    if isinstance(kernel, (Scaled, WithDeviations)):
        return kernel_in_words(kernel.kernel)
    if not isinstance(kernel, Stationary):
        return repr(kernel)
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(kernel).__name__).lower()
    lengths = kernel.length if isinstance(kernel.length, tuple) else (kernel.length,)
    unit = " km" if kernel.distance in ("great_circle", "chordal") else ""
    rest = [kernel.distance.replace("_", " ") + " distance"] if kernel.distance != "euclidean" else []
    known = {"length", "distance"}
    rest += [f"{name} {value:g}" for name, value in fields_of(kernel).items() if name not in known]
    return f"{name} kernel of length {' x '.join(f'{length:g}' for length in lengths)}{unit}" + (
        f" ({', '.join(rest)})" if rest else ""
    )


def policy_in_words(policy: Policy) -> str:
    """Return a rule and its parameters.

    >>> from corrbandits import CorrelatedUCL
    >>> policy_in_words(CorrelatedUCL(a=3.3))
    'CorrelatedUCL(K=4.13273, a=3.3, nu=1, factor=True)'
    """
    values = ", ".join(f"{name}={_value(value)}" for name, value in fields_of(policy).items())
    return f"{type(policy).__name__}({values})"


def noise_in_words(check: NoiseCheck, prior: GaussianBelief, name: str) -> str:
    """Return what contradicts the stated noise, what that does, and what to do."""
    stated, factor = np.sqrt(prior.noise_variance), math.sqrt(check.ratio)
    even = float(np.ptp(stated)) == 0
    seen = f"by {factor * stated[0]:.3g}" if even else f"{factor:.3g} times as much as stated"
    said = f"{stated[0]:.3g} was stated" if even else f"{_span(stated)} was stated"
    more = check.ratio > 1
    effect = (
        "so each reward is trusted too much, and deviations and probabilities here are too small"
        if more
        else "so rewards are trusted too little, and more of them are asked for than needed"
    )
    cause = "a mistyped reward (see history; amend or retract it)" if more else "rewards told twice, or rounded"
    plural = "s" if check.degrees > 1 else ""
    new = f"{factor * stated[0]:.2g}" if even else "..."
    return (
        f"WARNING: rewards of the same arm vary {seen}, but {said} (chi-square {check.chi_square:.3g} with "
        f"{check.degrees:,} degree{plural} of freedom, p = {check.p:.1g}), {effect}. Look for {cause}. "
        "If they are all right, go on with a copy that has another noise: "
        f"corrbandits study copy {shlex.quote(name)} NEW --noise-sd {new}."
    )


def surprise_in_words(found: Surprise) -> str:
    """Return what is surprising in an arm's rewards."""
    return (
        f"WARNING: the rewards of {found.name} average {found.average:.6g}, {abs(found.z):.2g} standard deviations "
        f"from what all else says ({found.expected:.4g} ± {found.deviation:.2g})."
    )


def time_in_words(seconds: float) -> str:
    """Return a stretch of time.

    >>> time_in_words(20.0), time_in_words(5400.0), time_in_words(864000.0)
    ('20 s', '1.5 h', '1.4 w')
    """
    unit = next((name for name, size in reversed(UNITS.items()) if seconds >= size), "s")
    return f"{max(seconds, 0.0) / UNITS[unit]:.2g} {unit}"


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)


def _span(values: Array) -> str:
    """Return one number for all, or the least and the largest."""
    low, high = float(values.min()), float(values.max())
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
