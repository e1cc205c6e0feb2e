"""Theorems 1 and 2 as arrays of logarithms, prepared once for a problem and evaluated for many a and weights.

    name     meaning                                                                  paper
    B        (4 sigma_s^2 / Delta_i^2)(2 log K + 2 a log T)                           in eta_i
    D        delta_{i-cond}^2 - sigma_s^2 / sigma_i^2(0), at least 0                  - (D_i' of the errata)
    X        the root of x^2 + (D - B) x - N B D = 0 that takes B's place             -
    square   Delta m_i^2 / sigma_0^2                                                  in n hat_i(T)
    eta      how often an arm may be taken before its limit falls below the gap       eta_i
    extra    how often it may be taken since the prior, or luck, misled               n hat_i(T)
    weight   epsilon (Theorem 1) or c1 (Theorem 2): any admissible one gives a bound  epsilon, c_1

The extra terms are exponentials of large squares, and the gaps may have any size, so all is kept as logarithms;
numbers beyond a double are inf, without a warning.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief import GaussianBelief, Independent
from corrbandits.environments import Environment
from corrbandits.policies import UCL, CorrelatedUCL
from corrbandits.theory.estimate import beta_from, difference, distance_from
from corrbandits.theory.precision import precision
from corrbandits.theory.tails import sum_of_tails

Version = Literal["printed", "corrected", "summed"]


class Numbers(NamedTuple):
    """A bound per arm: eta, its logarithm, the logarithm of the extra term, and the theorem's case."""

    eta: Array
    log_eta: Array
    log_extra: Array
    case: Array


class Problem(ABC):
    """What both theorems need of environment, K and horizon."""

    least_a: float
    """No smaller a is admissible, nor this one."""
    most_a: float
    """Beyond it a larger a no longer makes the extra term noticeably smaller."""

    def __init__(self, environment: Environment, belief: GaussianBelief, K: float, horizon: int) -> None:
        self.d = difference(environment, belief)
        self.suboptimal, self.best = environment.gaps > 0, int(environment.means.argmax())
        # for optimal arms, which the result leaves out, as if their gap were 1
        self.log_gap = np.log(np.where(self.suboptimal, environment.gaps, 1.0))
        self.log_noise = np.log(belief.noise_variance)
        with np.errstate(over="ignore"):
            self.root = 2 * np.sqrt(belief.noise_variance) / np.where(self.suboptimal, environment.gaps, 1.0)
        self.K, self.horizon, self.log_horizon = K, horizon, math.log(horizon)
        self.log_delta = self.log_noise - np.log(_variances(belief))  # -inf where nothing is believed
        self.log_discount, self.log_D = self.log_delta, np.full(belief.arms, -np.inf)

    @abstractmethod
    def numbers(self, a: float, weight: float) -> Numbers:
        """Return the bound for this a and this weight."""

    @abstractmethod
    def weight(self, a: float) -> float:
        """Return the weight that makes the regret bound least for this a."""

    def stretch(self, log_B: Array) -> Array:
        """Return X_i / B_i, from D / B or from B / D, whichever is below 1; it is 1 for an index without the factor."""
        n, ratio = log_B.size, np.exp(-np.abs(self.log_D - log_B))
        root = np.sqrt((1 - ratio) ** 2 + 4 * n * ratio)
        return np.asarray(np.where(self.log_D <= log_B, (1 - ratio + root) / 2, 2 * n / (1 - ratio + root)))

    def log_needed(self, a: float) -> Array:
        """Return log B_i."""
        return np.asarray(math.log(4) + self.log_noise - 2 * self.log_gap + math.log(self.logs(a)))

    def logs(self, a: float) -> float:
        """Return 2 log K + 2 a log T."""
        return 2 * math.log(self.K) + 2 * a * self.log_horizon

    def eta(self, a: float) -> tuple[Array, Array]:
        """Return max{1, ceil(X_i - discount_i)} and its logarithm."""
        log_B, log_discount = self.log_needed(a), self.log_discount
        stretch = self.stretch(log_B)
        log_X = log_B + np.log(stretch)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            X = self.root * self.root * self.logs(a) * stretch
            eta = np.maximum(1.0, np.ceil(X - np.exp(log_discount)))
            beyond = np.maximum(log_X + np.log1p(-np.exp(np.minimum(log_discount - log_X, 0.0))), 0.0)
            huge = ~np.isfinite(eta)
            eta = np.where(huge, np.exp(beyond), eta)
        return eta, np.where(huge, beyond, np.log(np.where(huge, 1.0, eta)))

    def before(self, eta: Array) -> Array:
        """Return the a up to which eta_i is no larger than this: the inverse of `eta`."""
        with np.errstate(over="ignore", invalid="ignore"):
            X, D = eta + np.exp(self.log_discount), np.exp(self.log_D)
            B = np.where(np.isinf(D), X / X.shape[-1], X * ((X + D) / (X + X.shape[-1] * D)))
            a = (B / self.root / self.root - 2 * math.log(self.K)) / (2 * self.log_horizon)
        return np.asarray(a * (1 - 1e-13))

    def log_regret(self, numbers: Numbers) -> float:
        """Return the logarithm of the regret bound, sum_i Delta_i (eta_i + extra_i)."""
        logs = self.log_gap + np.logaddexp(numbers.log_eta, numbers.log_extra)
        return float(np.logaddexp.reduce(logs[self.suboptimal], initial=-np.inf))


class Theorem1(Problem):
    """Theorem 1, for `UCL` on an `Independent` prior. `K` and `a` are the policy's, the weight is epsilon."""

    def __init__(self, environment: Environment, belief: Independent, K: float, horizon: int) -> None:
        super().__init__(environment, belief, K, horizon)
        with np.errstate(over="ignore"):
            self.delta = belief.noise_variance / belief.variance
        self.most_delta = float(self.delta.max())
        with np.errstate(divide="ignore"):
            self.log_square = 2 * np.log(np.abs(self.d)) - np.log(belief.variance)
        self.under = -self.d  # Delta m_i = m_i - mu_i^0
        self.least_a = 4 / 3 * (1 + self.most_delta)
        relevant = np.concatenate([self.log_square[[self.best]] + max(self.log_delta[self.best], 0.0), self.log_square])
        self.most_a = self.least_a * 50 + math.exp(min(relevant.max(), 200.0))

    def largest(self, a: float) -> float:
        """Return the epsilon that no admissible one reaches: a > (4/3)(1 + delta^2 / (1 - epsilon))."""
        return 1 - 4 * self.most_delta / _exactly_3a_less_4(a) if a > 4 / 3 else -math.inf

    def numbers(self, a: float, weight: float) -> Numbers:
        """Return the bound of the theorem (eq. subopt-sel-extra)."""
        eta, log_eta = self.eta(a)
        log_luck = math.log(a / (a - 1)) - math.log(self.K)
        best = self.best
        # event (i*), on the left in cases 1 and 2
        misled = self._misled(a, weight, np.maximum(self.log_delta, 0.0), np.zeros_like(eta))[best]
        log_best = misled if self.under[best] > 0 else log_luck
        # event (i), an arm that the prior overestimates, in cases 1 and 3
        over = self.under < 0
        log_other = np.where(over, self._misled(a, weight, self.log_delta, log_eta), log_luck)
        case = np.where(over, 1.0, 2.0) + (0.0 if self.under[best] > 0 else 2.0)
        return Numbers(eta, log_eta, np.logaddexp(log_best, log_other), case)

    def _misled(self, a: float, epsilon: float, log_delta: Array, log_eta: Array) -> Array:
        """Return log of exp(2 delta^2 square / 3a eta) + 3 a c1 / (2 (3 a c1 - 4)) exp(c2 delta^2 square / 2 eta)."""
        rest = 1 - epsilon  # c2 delta^2, and 3 a c1 - 4 = ((3a - 4) rest - 4 delta^2) / (rest + delta^2)
        log_coefficient = math.log(1.5 * a * rest) - np.log(_exactly_3a_less_4(a) * rest - 4 * self.delta)
        with np.errstate(over="ignore"):
            first = 2 / (3 * a) * np.exp(self.log_square + log_delta - log_eta)
            second = rest / 2 * np.exp(self.log_square - log_eta)
        return np.logaddexp(first, log_coefficient + second)

    def weight(self, a: float) -> float:
        """Return the best epsilon."""

        def cost(epsilon: float) -> float:
            return self.log_regret(self.numbers(a, epsilon)) if self.admissible(a, epsilon) else math.inf

        return least(cost, 0.0, self.largest(a))

    def admissible(self, a: float, epsilon: float) -> bool:
        """Return whether epsilon lies in the range, also after rounding."""
        return 0 < epsilon < 1 and _exactly_3a_less_4(a) * (1 - epsilon) > 4 * self.most_delta


class Theorem2(Problem):
    """Theorem 2, in three versions, for the index that the policy means; the weight is c1."""

    def __init__(
        self,
        environment: Environment,
        belief: GaussianBelief,
        policy: UCL | CorrelatedUCL,
        horizon: int,
        version: Version,
    ) -> None:
        super().__init__(environment, belief, policy.K, horizon)
        self.version, self.arms = version, belief.arms
        nu = policy.nu if isinstance(policy, CorrelatedUCL) else None
        if nu is not None:
            self.log_discount = np.full(belief.arms, math.log(nu))
        if version == "printed":
            assert nu is not None
            found = precision(belief, self.d, absolute_sums=True)
            self.beta, self.nu = beta_from(belief, nu, self.d, found), nu
            with np.errstate(over="ignore"):
                self.delta_cond = belief.noise_variance * (np.inf if found is None else found.diagonal)
            self.b = float(self.beta.max())
        else:
            factor = isinstance(policy, CorrelatedUCL) and policy.factor
            needed = factor or bool(self.d.any())
            found = precision(belief, self.d, diagonal=factor) if needed else None
            if factor:
                self.log_D = self._log_excess(belief, found.diagonal if found else np.full(self.arms, np.inf))
            self.b = distance_from(belief, nu, self.d, found)
        self.singular = math.isinf(self.b) and (found is None or found.singular)
        self.least_a = 0.0 if version == "summed" else 4 / 3
        self.most_a = 100 + min(self.b, 1e100) ** 2

    def _log_excess(self, belief: GaussianBelief, diagonal: Array) -> Array:
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            D = belief.noise_variance * np.maximum(diagonal - 1 / belief.variance, 0.0)
            return np.asarray(np.log(D))

    def numbers(self, a: float, weight: float) -> Numbers:
        """Return the bound of the version."""
        extra = {"printed": self._printed, "corrected": self._corrected, "summed": self._summed}[self.version]
        eta, log_eta = self.eta(a)
        return Numbers(eta, log_eta, np.broadcast_to(extra(a, weight), eta.shape), np.ones(self.arms))

    def _printed(self, a: float, c1: float) -> Array:
        with np.errstate(over="ignore", divide="ignore"):
            square = self.beta * self.beta
            ratio = 1 / (1 + 1 / self.delta_cond[self.best]) / self.nu
            first = 2 * square[self.best] / (3 * a) * max(ratio, 1.0)
            # the statement has beta_i in its second term, where the proof has beta_i*
            second = _log_coefficient(a, c1) - math.log(2) + c1 / (1 - c1) * square / 2
            return np.asarray(np.logaddexp(np.logaddexp(first, 2 * square / (3 * a)), second + math.log(2)))

    def _corrected(self, a: float, c1: float) -> Array:
        square = self.b * self.b
        second = _log_coefficient(a, c1) + c1 / (1 - c1) * square / 2
        return np.asarray(np.logaddexp(2 * square / (3 * a), second))

    def _summed(self, a: float, _: float) -> Array:
        return np.asarray(math.log(sum_of_tails(self.K, a, self.b, self.horizon)))

    def weight(self, a: float) -> float:
        """Return the best c1.

        Of the corrected bound it is the root of 8 (1 - c1)^2 = b^2 c1 (3 a c1 - 4), where the second term is least.
        """
        if self.version == "summed":
            return math.nan
        if self.version == "printed":

            def cost(c1: float) -> float:
                return self.log_regret(self.numbers(a, c1)) if admissible(a, c1) else math.inf

            return least(cost, 4 / (3 * a), 1.0)
        q, b = _exactly_3a_less_4(a), self.b
        rest = b * (q / (b * (q + 2) + 2 * math.sqrt(b * b + 2 * q))) if b < 1e150 else q / (q + 4)
        return inside(a, 1 - rest)


def least(cost: Callable[[float], float], low: float, high: float) -> float:
    """Return where in (low, high) a cost that falls and then rises is least; it may be inf near the ends.

    >>> round(least(lambda x: (x - 0.2) ** 2 if x > 0.1 else math.inf, 0.0, 1.0), 6)
    0.2
    """
    from scipy.optimize import minimize_scalar

    where = [low + (high - low) / (1 + math.exp(-u)) for u in range(-30, 31, 2)]  # most of them near the ends
    where = [x for x in where if low < x < high]
    costs = [cost(x) for x in where]
    k = int(np.argmin(costs))
    left, right = where[max(k - 1, 0)], where[min(k + 1, len(where) - 1)]
    with np.errstate(invalid="ignore"):  # a parabola through an infinite cost is not used
        found = minimize_scalar(cost, bounds=(left, right), method="bounded", options={"xatol": 1e-9 * (right - left)})
    return min((float(found.fun), float(found.x)), (costs[k], where[k]))[1]


def inside(a: float, c1: float) -> float:
    """Return c1, moved by rounding if need be, so that 4 < 3 a c1 and c1 < 1."""
    c1 = min(max(c1, 4 / (3 * a)), math.nextafter(1.0, 0.0))
    while not admissible(a, c1):
        c1 = math.nextafter(c1, 1.0)
    return c1


def admissible(a: float, c1: float) -> bool:
    """Return whether 4 < 3 a c1 and c1 < 1, without rounding."""
    return 3 * Fraction(a) * Fraction(c1) > 4 and c1 < 1


TINIEST_VARIANCE = 1e-300


def _variances(belief: GaussianBelief) -> Array:
    """Return the prior variances; refuse 0."""
    if not (belief.variance > 0).all():
        arm = int(np.flatnonzero(belief.variance == 0)[0])
        raise ValueError(f"the bounds need prior variances above 0, but arm {arm} is known (variance 0).")
    if belief.variance.min() < TINIEST_VARIANCE:
        raise ValueError(
            f"the bounds need prior variances of at least {TINIEST_VARIANCE:g}, since their inverses must exist."
        )
    return belief.variance


def _log_coefficient(a: float, c1: float) -> float:
    """Return log of 3 a c1 / (3 a c1 - 4), the difference without rounding."""
    product = 3 * Fraction(a) * Fraction(c1)
    return math.log(product) - math.log(product - 4)


def _exactly_3a_less_4(a: float) -> float:
    return float(3 * Fraction(a) - 4)
