"""A study's prior with something in it changed, for a copy of the study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from corrbandits._core import checks
from corrbandits.belief import Belief, Vague
from corrbandits.belief.changing.base import ChangingBelief
from corrbandits.belief.vague.drift import Drift
from corrbandits.belief.vague.known import Said
from corrbandits.kernels import Kernel, Scaled, Stationary, WithDeviations
from corrbandits.study.setup.learning import told_less


def changed(
    prior: Belief,
    *,
    noise_sd: Said = None,
    lengths: Sequence[Said] = (),
    prior_mean: Said = None,
    prior_sd: Said = None,
    learn: Sequence[str] = (),
    drift: Drift = None,
) -> Belief:
    """Return a prior with another noise, length, mean or sd than it was made with; what is not given stays.

    What is to be learnt, or is given as a range, is not taken for known any more: see `told_less`. `drift` is the time
    in which rewards change, False if they do not any more.

    >>> from corrbandits import Correlated, Exponential
    >>> prior = Correlated(mean=3.0, kernel=4 * Exponential(2.0), coordinates=[0.0, 1.0], noise_variance=1.0)
    >>> changed(prior, lengths=[5.0], noise_sd=0.5).in_words()
    'exponential kernel of length 5, mean 3 ± 2; noise ± 0.5'
    """
    if drift is False:
        prior, drift = _still(prior), None
    said = {"mean": [prior_mean], "sd": [prior_sd], "length": lengths, "noise": [noise_sd]}
    if twice := [what for what in learn if any(value is not None for value in said.get(what, ()))]:
        raise ValueError(f"`learn` must be of what is not said besides, got {twice[0]} and its value. Leave one out.")
    ranges = [what for what, values in said.items() if any(isinstance(value, tuple) for value in values)]
    if lengths:
        where = {} if prior.coordinates is None else {"coordinates": prior.coordinates}
        _need(prior, where, "coordinates", "`length`", "a prior that knows where arms lie")
    if learn or ranges or drift is not None:
        alike = not isinstance(prior, Vague) and noise_sd is not None
        prior = told_less(prior, [*learn, *ranges])
        prior = Vague(**(prior.prior_arguments() | {"relative_noise": 1.0})) if alike else prior
    given, kind = prior.prior_arguments(), type(prior)
    if isinstance(prior, Vague):
        told: dict[str, Any] = {"noise_sd": noise_sd, "mean": prior_mean, "sd": prior_sd, "drift": drift}
        if lengths:
            each = len(lengths) > 1 or given.get("per_coordinate", False)
            told |= {"length": list(lengths) if each else lengths[0], "per_coordinate": each}
        return Vague(**(given | {name: value for name, value in told.items() if value is not None}))
    more: dict[str, Any] = {}
    if noise_sd is not None:
        _need(prior, given, "noise_variance", "`noise_sd`", "a Gaussian prior")
        more["noise_variance"] = checks.number("`noise_sd`", noise_sd, above=0) ** 2
    if prior_mean is not None:
        _need(prior, given, "mean", "`prior_mean`", "a Gaussian prior")
        more["mean"] = checks.number("`prior_mean`", prior_mean)
    if lengths:
        _need(prior, given, "kernel", "`length`", "a prior made of a kernel")
        more["kernel"] = _with_length(given["kernel"], [checks.number("`length`", one, above=0) for one in lengths])
    if prior_sd is not None:
        more |= _with_sd(prior, given | more, checks.number("`prior_sd`", prior_sd, above=0))
    made: Belief = kind(**(given | more))
    return made


def _still(prior: Belief) -> Belief:
    """Return a prior on means that do not change."""
    if isinstance(prior, ChangingBelief):
        return prior.prior
    if not isinstance(prior, Vague):
        return prior
    return Vague(**{name: value for name, value in prior.prior_arguments().items() if name != "drift"})


def _need(prior: Belief, given: dict[str, Any], what: str, option: str, kind: str) -> None:
    if what not in given:
        raise ValueError(
            f"{option} is for {kind}, but the study's is {type(prior).__name__}: {prior.in_words()}. Copy it from "
            "Python, with prior=."
        )


def _with_length(kernel: Kernel, lengths: Sequence[float]) -> Kernel:
    if isinstance(kernel, WithDeviations):
        return WithDeviations(_with_length(kernel.kernel, lengths))
    variance, correlation = _factors(kernel, "`length`")
    new = replace(correlation, length=lengths[0] if len(lengths) == 1 else tuple(lengths))
    return Scaled(new, variance) if isinstance(kernel, Scaled) else new


def _with_sd(prior: Belief, given: dict[str, Any], sd: float) -> dict[str, Any]:
    """Return the arguments of the prior that say how uncertain arms are, all of them alike."""
    if "kernel" not in given:
        _need(prior, given, "variance", "`prior_sd`", "a prior made of a kernel or of variances")
        return {"variance": sd**2}
    kernel = given["kernel"]
    if isinstance(kernel, WithDeviations):
        where = np.array(given["coordinates"], dtype=np.float64)
        where[:, -1] = sd
        return {"coordinates": where}
    return {"kernel": Scaled(_factors(kernel, "`prior_sd`")[1], sd**2)}


def _factors(kernel: Kernel, option: str) -> tuple[float, Stationary]:
    factors = kernel.factored()
    if factors is None:
        raise ValueError(
            f"{option} is for a kernel with one length and one variance, but the study's is {kernel!r:.60}. Copy it "
            "from Python, with prior=."
        )
    return factors
