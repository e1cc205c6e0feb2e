"""Theorems 1 and 2: bounds on how often each suboptimal arm is taken, as data sets.

The result of each has per arm `gap`, `eta`, `log10_eta`, `log10_extra`, `total` = eta + extra (inf where it exceeds
a double), `log10_total`, `case`, and `vacuous`: 1 where the total is no less than the horizon, else 0. Optimal arms
hold NaN. Its attribute `statement` says in words whether the bound says anything.

Every bound treats the numbers of samples as fixed beforehand, as the paper's proofs do: see `errata`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from corrbandits._core import checks
from corrbandits._shell.numbers import counted
from corrbandits.belief import GaussianBelief, Independent
from corrbandits.environments import Environment
from corrbandits.policies import UCL, CorrelatedUCL
from corrbandits.theory.theorems import Numbers, Problem, Theorem1, Theorem2, Version, admissible

if TYPE_CHECKING:
    import xarray as xr

LEAST_K = math.sqrt(2 * math.pi * math.e)


def uncorrelated_bound(
    environment: Environment, belief: Independent, policy: UCL, horizon: int, epsilon: float | None = None
) -> xr.Dataset:
    """Return Theorem 1's bound on E[n_i(T)] for `UCL` on an `Independent` prior, per arm.

    `epsilon` in (0, 1) weighs the terms of the bound; by default the one that makes the regret bound least is
    taken. Needs K >= sqrt(2 pi e) and a > (4/3)(1 + delta^2 / (1 - epsilon)) for the largest delta^2. `case` is that
    of the theorem, 1 to 4; an arm of which nothing is believed (infinite variance) is neither over- nor
    underestimated. Of several optimal arms the first is the theorem's i*.

    >>> from corrbandits import GaussianBandit
    >>> bandit = GaussianBandit([1.0, 0.0], noise_variance=1.0)
    >>> prior = Independent(mean=[2.0, 0.0], variance=1.0, noise_variance=1.0)
    >>> bound = uncorrelated_bound(bandit, prior, UCL(a=3.3), horizon=10_000)
    >>> bound.total.values.round(2), bound.case.values
    (array([   nan, 254.69]), array([nan,  4.]))
    """
    theorem = theorem_1(environment, belief, policy, horizon)
    largest = theorem.largest(policy.a)
    if largest <= 0:
        raise ValueError(
            f"Theorem 1 needs a above (4/3)(1 + delta^2) = {theorem.least_a:.6g} for this prior, but a is {policy.a:g}."
        )
    if epsilon is None:
        epsilon = theorem.weight(policy.a)
    elif not theorem.admissible(policy.a, checks.number("epsilon", epsilon)):
        raise _outside("epsilon", epsilon, 0.0, largest)
    attrs = {"theorem": "1", "epsilon": epsilon, "a": policy.a, "K": policy.K}
    return as_dataset(environment, theorem, theorem.numbers(policy.a, epsilon), attrs)


def correlated_bound(
    environment: Environment,
    belief: GaussianBelief,
    policy: UCL | CorrelatedUCL,
    horizon: int,
    version: Version = "corrected",
    c1: float | None = None,
) -> xr.Dataset:
    """Return Theorem 2's bound on E[n_i(T)] after initialisation, per arm.

    `version` is "printed" (the theorem as it stands, which is false for the printed index), "corrected", or
    "summed", which adds up tail probabilities instead of bounding their sum. The policy says which index is meant:
    `CorrelatedUCL`, with its factor or without, or `UCL` on any belief, which has no initialisation. `c1` in
    (4/(3a), 1) weighs the terms; by default the one that makes the regret bound least is taken. "summed" has no c1,
    and holds for any K above 1 and any a; the others need K >= sqrt(2 pi e) and a > 4/3.

    The prior must be invertible for "printed", whose beta is made of the entries of L0. For the others it need not be:
    see `prior_distance`.

    >>> from corrbandits import Correlated, GaussianBandit
    >>> bandit = GaussianBandit([1.0, 0.0], noise_variance=1.0)
    >>> prior = Correlated(mean=[1.0, 0.0], covariance=[[1.0, 0.5], [0.5, 1.0]], noise_variance=1.0)
    >>> bound = correlated_bound(bandit, prior, CorrelatedUCL(a=2.0, factor=False), horizon=10_000, version="summed")
    >>> bound.total.values.round(1), bound.statement
    (array([  nan, 158.8]), 'informative for the 1 suboptimal arm at T = 10,000')
    """
    theorem = theorem_2(environment, belief, policy, horizon, version)
    c1 = checked_c1(theorem, policy, c1)
    attrs = {"theorem": f"2, {version}", "c1": c1, "a": policy.a, "K": policy.K}
    if version != "printed":
        attrs["b"] = theorem.b
    return as_dataset(environment, theorem, theorem.numbers(policy.a, c1), attrs)


def checked_c1(theorem: Theorem2, policy: UCL | CorrelatedUCL, c1: float | None) -> float:
    """Return c1, by default the best one; refuse one that the theorem does not admit."""
    low, summed = 4 / (3 * policy.a), theorem.version == "summed"
    if not summed and low >= 1:
        raise ValueError(f"Theorem 2 needs a above 4 / (3 c1), that is above 4/3, but a is {policy.a:g}.")
    if c1 is None:
        return theorem.weight(policy.a)
    if not 0 < checks.number("c1", c1) < 1 or not (summed or admissible(policy.a, c1)):
        raise _outside("c1", c1, 0.0 if summed else low, 1.0)
    return c1


def theorem_1(environment: Environment, belief: Independent, policy: UCL, horizon: int) -> Theorem1:
    """Return Theorem 1 for a problem, or say why it does not apply."""
    if not isinstance(belief, Independent) or not isinstance(policy, UCL):
        raise TypeError(
            "Theorem 1 is for UCL on an Independent belief, and correlated_bound for UCL and CorrelatedUCL on any "
            f"Gaussian one, got {type(policy).__name__} on {type(belief).__name__}."
        )
    return Theorem1(environment, belief, _checked_k(policy, LEAST_K), _horizon(horizon))


def theorem_2(
    environment: Environment, belief: GaussianBelief, policy: UCL | CorrelatedUCL, horizon: int, version: Version
) -> Theorem2:
    """Return Theorem 2 for a problem, or say why it does not apply."""
    if version not in ("printed", "corrected", "summed"):
        raise ValueError(f"version must be printed, corrected or summed, got {version!r}.")
    if not isinstance(policy, (UCL, CorrelatedUCL)):
        raise TypeError(f"the bounds are for UCL and CorrelatedUCL, got {type(policy).__name__}.")
    if version == "printed" and not isinstance(policy, CorrelatedUCL):
        raise TypeError("Theorem 2 as printed is for CorrelatedUCL; for UCL take version='corrected' or 'summed'.")
    _checked_k(policy, 1.0 if version == "summed" else LEAST_K)
    return Theorem2(environment, belief, policy, _horizon(horizon), version)


def _checked_k(policy: UCL | CorrelatedUCL, least: float) -> float:
    K = policy.K
    if K <= 1 or least * (1 - 1e-12) > K:
        wanted = f"at least sqrt(2 pi e) = {least:.6g}" if least > 1 else "above 1"
        raise ValueError(f"this bound needs K {wanted}, but K is {K:g}.")
    return K


def _horizon(horizon: int) -> int:
    return checks.integer("horizon", horizon, least=1)


def _outside(name: str, value: float, low: float, high: float) -> ValueError:
    return ValueError(f"{name} must lie strictly between {low:.6g} and {high:.6g} for this a and prior, got {value:g}.")


def as_dataset(environment: Environment, problem: Problem, numbers: Numbers, attrs: dict[str, Any]) -> xr.Dataset:
    """Return a bound as a data set, in words too."""
    import xarray as xr

    log_total = np.logaddexp(numbers.log_eta, numbers.log_extra)
    with np.errstate(over="ignore"):
        total = numbers.eta + np.exp(numbers.log_extra)
    columns = {
        "eta": numbers.eta,
        "log10_eta": numbers.log_eta / math.log(10),
        "log10_extra": numbers.log_extra / math.log(10),
        "total": total,
        "log10_total": log_total / math.log(10),
        "case": numbers.case,
        "vacuous": ~(total < problem.horizon),
    }
    values = {name: ("arm", np.where(problem.suboptimal, column, np.nan)) for name, column in columns.items()}
    bound = xr.Dataset({"gap": ("arm", environment.gaps), **values}, attrs={**attrs, "horizon": problem.horizon})
    singular = isinstance(problem, Theorem2) and problem.singular
    return bound.assign_attrs(statement=_statement(bound, singular))


def _statement(bound: xr.Dataset, singular: bool) -> str:
    """Say in words whether the bound says anything."""
    suboptimal = bound["gap"].values > 0
    vacuous, logs = bound["vacuous"].values[suboptimal] == 1, bound["log10_total"].values[suboptimal]
    horizon, arms = bound.attrs["horizon"], suboptimal.sum()
    if not arms:
        return "every arm is optimal: there is nothing to bound"
    if not vacuous.any():
        return f"informative for {'all' if arms > 1 else 'the'} {counted(arms, 'suboptimal arm')} at T = {horizon:,}"
    why = "the prior is wrong, and its covariance singular to rounding: " if singular else ""
    some = f"{vacuous.sum()} of {counted(arms, 'suboptimal arm')}"
    return f"{why}vacuous for {some} at T = {horizon:,} (log10 = {logs.max():.3g})"
