"""A bound on the Bayesian regret of rules whose index is the mean and so many deviations, by what rewards can tell.

    name       meaning
    f          mean rewards, drawn from the prior that the rule knows
    s, w       posterior deviation of an arm, and its width: the index is Q_i = mu_i + w_i s_i
    D, u       noise variance; s / sqrt(D)
    h(c)       E(Z - c)^+, Z standard normal
    gamma      the most that T decisions can tell: `most_information`

Let A be the arm of largest index. Given all that was seen before, f is normal with means mu, so that

    E[max f - f_A] = E[max_i f_i - Q_A] + w_A s_A <= E max_i (f_i - Q_i) + w_A s_A,

since Q_A >= Q_i. The first part, how far the truth may lie above its limits, is at most c + sum_i s_i h(w_i + c / s_i)
for any c >= 0, and s_i is at most the prior's deviation. The second, summed over time, is limited by what can be
learnt: sum_t log(1 + u_A^2) is twice the information gained, at most 2 gamma, whatever was chosen. So for any
lambda >= 0

    sum_t w_A s_A <= 2 lambda gamma + sum_t max_u [w(u) u sqrt(D) - lambda log(1 + u^2)].

Widths may depend on the time and on u, as those of the Gittins index do. Over a cell of u, and over a group of times,
everything is taken at its worst. The best c and lambda are searched for; any would do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._core.excess import expected_excess
from corrbandits.belief import Belief
from corrbandits.policies import CorrelatedUCL, Gittins, LimitPolicy, Policy
from corrbandits.policies.gittins import index_in_deviations
from corrbandits.policies.gittins.table import table
from corrbandits.theory.information import most_information, proper

CELLS_PER_E = 160
"""Cells of u per factor of e; the Gittins table is linear in log u between the ends of a cell."""

LEAST = -9 * CELLS_PER_E
"""They reach down to exp(-9), where the table ends or before; one more cell reaches to 0."""

SINGLE, RATIO = 60, 1.03
"""The sixty smallest widths are taken one by one; the others in groups, whose numbers grow by this ratio."""

DRAWS = 4_096

LONGEST = 10_000_000
"""The widths of all times are sorted in memory."""


@final
@dataclass(frozen=True)
class BayesBound:
    """A bound on E[sum_t (max f - f_A)], the mean rewards f drawn from the prior."""

    horizon: int
    optimism: float
    """What is lost while the truth lies above its limits."""

    exploration: float
    """What limits above the truth cost: bounded by what can be learnt."""

    information: float
    """The most that so many decisions can tell, in nats."""

    learning_nothing: float
    """What the arm of largest prior mean loses if it is taken always, from 4,096 draws: a larger bound says nothing."""

    @property
    def total(self) -> float:
        """The bound."""
        return self.optimism + self.exploration

    @property
    def vacuous(self) -> bool:
        """Whether taking one arm always is known to lose no more."""
        return self.total >= self.learning_nothing

    @property
    def statement(self) -> str:
        """What the bound says, in words."""
        if not self.learning_nothing > 0:
            return f"vacuous at T = {self.horizon:,}: the arm of largest prior mean loses nothing that 4,096 draws show"
        share = self.total / self.learning_nothing
        if self.vacuous:
            return f"vacuous at T = {self.horizon:,}: {share:.3g} times what is lost if nothing is learnt"
        return f"informative at T = {self.horizon:,}: at most {share:.0%} of what is lost if nothing is learnt"


class Block(NamedTuple):
    """A group of times: the least and the largest of what is scheduled, and how many they are."""

    low: float
    high: float
    many: int


def bayes_bound(belief: Belief, policy: Policy, horizon: int) -> BayesBound:
    """Return a bound on the Bayesian regret of `Gittins`, `HorizonUCL`, `UCL` or another limit without a factor.

    It holds for mean rewards drawn from the belief, which must be proper, with Gaussian noise as believed, and for any
    correlations. Nothing is treated as if it were fixed beforehand. It says nothing of a belief that is wrong or learns
    its parameters.

    >>> from corrbandits import Correlated, Exponential, Gittins
    >>> prior = Correlated(mean=0.0, kernel=Exponential(3.0), coordinates=range(10), noise_variance=1.0)
    >>> bound = bayes_bound(prior, Gittins(1_000), horizon=1_000)
    >>> bound.statement
    'informative at T = 1,000: at most 36% of what is lost if nothing is learnt'
    """
    S0, D = proper(belief)
    T = checks.integer("horizon", horizon, least=1, most=LONGEST)
    blocks = list(_blocks(_schedule(policy, T, belief.arms)))
    gamma = most_information(belief, T)
    deviations = np.sqrt(S0.diagonal())
    optimism = sum(block.many * _optimism(policy, block, deviations, D) for block in blocks)
    draws = belief.draws(np.random.default_rng(0), DRAWS)
    gap = float((draws.max(axis=0) - draws[int(belief.mean.argmax())]).mean())
    return BayesBound(T, optimism, _exploration(policy, blocks, deviations, D, gamma), gamma, T * gap)


def _schedule(policy: Policy, horizon: int, arms: int) -> Array:
    """Return widths, or for `Gittins` decisions left, in ascending order; refuse rules that have no such bound."""
    if not isinstance(policy, (Gittins, LimitPolicy)) or isinstance(policy, CorrelatedUCL):
        raise TypeError(
            "the Bayesian bound is for rules whose index is the mean and so many deviations: Gittins, HorizonUCL, UCL, "
            f"GPUCB, BayesUCB, Greedy; got {type(policy).__name__}."
        )
    schedule = np.sort(policy.schedule(np.arange(1, horizon + 1), arms))
    if not schedule[0] >= 0:
        raise ValueError(f"the Bayesian bound needs widths of at least 0, but one is {schedule[0]:g}.")
    return schedule


def _blocks(schedule: Array) -> Iterator[Block]:
    """Yield groups of neighbours."""
    first = 0
    while first < schedule.size:
        last = max(first + 1, int(RATIO * first)) if first >= SINGLE else first + 1
        part = schedule[first:last]
        yield Block(float(part[0]), float(part[-1]), part.size)
        first = last


def _cells(largest: float) -> Array:
    """Return the ends of cells of u, the largest first and 0 last."""
    top = int(np.ceil(np.log(largest) * CELLS_PER_E)) - 1
    return np.concatenate([[largest], np.exp(np.arange(top, min(top, LEAST) - 1, -1) / CELLS_PER_E), [0.0]])


def _widths(policy: Policy, block: Block, ends: Array) -> tuple[Array, Array]:
    """Return the least and the largest width in each cell, over a group of times."""
    if not isinstance(policy, Gittins):
        return np.full(ends.size - 1, block.low), np.full(ends.size - 1, block.high)
    rows = np.exp(table().log_m).round()  # between two of them the index is between theirs
    decisions = [block.low, *rows[(rows > block.low) & (rows < block.high)], block.high]
    with np.errstate(divide="ignore"):
        g = np.array([index_in_deviations(int(m), ends**-2.0) for m in decisions])
    low, high = g.min(axis=0), g.max(axis=0)
    return np.minimum(low[1:], low[:-1]), np.maximum(high[1:], high[:-1])


def _optimism(policy: Policy, block: Block, deviations: Array, D: Array) -> float:
    """Return a bound on E max_i (f_i - Q_i) at one time of a group."""
    c = float(deviations.max()) * np.linspace(0.0, np.sqrt(2 * np.log(len(D))) + 0.5, 25)
    whole = c.copy()
    for noise in np.unique(D):
        u = deviations[noise == D] / np.sqrt(noise)
        if not u.max() > 0:  # known arms are where they are believed to be
            continue
        ends = _cells(float(u.max()))
        high, shifts = ends[:-1], c[:, None] / np.sqrt(noise)
        each = high * expected_excess(_widths(policy, block, ends)[0] + shifts / high)
        up_to = np.maximum.accumulate(each[:, ::-1], axis=1)  # the largest of all s from 0 to the end of a cell
        whole += np.sqrt(noise) * up_to[:, np.searchsorted(high[::-1], u)].sum(axis=1)
    return float(whole.min())


def _exploration(policy: Policy, blocks: list[Block], deviations: Array, D: Array, gamma: float) -> float:
    """Return a bound on the sum of w_A s_A over time."""
    if not deviations.max() > 0:
        return 0.0
    costs, gains = [], []
    for noise in np.unique(D[deviations > 0]):
        ends = _cells(float(deviations[noise == D].max() / np.sqrt(noise)))
        costs.append([np.sqrt(noise) * ends[:-1] * _widths(policy, block, ends)[1] for block in blocks])
        gains.append(np.log1p(ends[1:] ** 2))
    cost, gain, many = np.concatenate(costs, axis=1), np.concatenate(gains), np.array([block.many for block in blocks])

    def bound(price: float) -> float:
        return float(2 * price * gamma + many @ (cost - price * gain).max(axis=1))

    prices = float(deviations.max()) * np.append(np.exp(np.arange(-6.0, 12.0, 0.5)), 0.0)
    best = prices[int(np.argmin([bound(price) for price in prices]))]
    return min(bound(price) for price in best * np.exp(np.linspace(-0.5, 0.5, 21)))
