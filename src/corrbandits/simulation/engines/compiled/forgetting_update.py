"""How windowed and discounted beliefs take rewards, and let go of them: parts of the loops.

A reward r of arm k that no longer counts is taken back: with s = sigma_k^2 - S_kk, the covariance becomes
S + S_k S_k' / s and the means mu + S_k (mu_k - r) / s. Each time that loses digits, so after so many rewards all is
computed anew from the prior and the rewards that count. With a discount every reward changes what it says at every
step: on correlated arms all is computed anew at each.
"""

from __future__ import annotations

from typing import Any

from corrbandits._core.tally import HARDLY
from corrbandits.simulation.engines.compiled.cache import part
from corrbandits.simulation.engines.compiled.forgetting_state import DiscountedJoint, ForgettingApart, WindowedJoint
from corrbandits.simulation.engines.compiled.update import copy, settle_printed
from corrbandits.simulation.engines.compiled.weighed import take_average, weigh_rows

FAR_BELOW = 1e-3
"""Rewards of which all are so much smaller than one that is taken back would be left with its rounding."""


@part
def note(b: Any, k: int, reward: float) -> None:
    """Count a reward of arm k, and remember it."""
    place = b.memory.done % b.arms.size
    b.arms[place], b.told[place] = k, reward
    b.memory.done += 1
    b.counts[k] += 1.0
    b.sums[k] += reward
    b.memory.largest = max(b.memory.largest, abs(reward))


@part
def uncount(b: Any) -> int:
    """Return the place of the oldest reward that counts, which does so no longer."""
    place = b.memory.start % b.arms.size
    k = b.arms[place]
    b.memory.start += 1
    b.memory.back += 1
    b.counts[k] -= 1.0
    b.sums[k] -= b.told[place]
    if abs(b.told[place]) >= b.memory.largest:
        look_for_largest(b)
    return place


@part
def look_for_largest(b: Any) -> None:
    """Note the largest reward that counts; if it is far below the one before, all is to be computed anew."""
    before, most = b.memory.largest, 0.0
    for told in range(b.memory.start, b.memory.done):
        most = max(most, abs(b.told[told % b.arms.size]))
    b.memory.largest = most
    if most < FAR_BELOW * before:
        b.memory.back = b.memory.between + 1


@part
def add_up(b: Any) -> None:
    """Let sums be those of the rewards that count, added up anew."""
    b.sums[:] = 0.0
    for told in range(b.memory.start, b.memory.done):
        b.sums[b.arms[told % b.arms.size]] += b.told[told % b.arms.size]
    b.memory.back = 0


@part
def oldest(b: Any) -> float:
    """Return the earliest time of a reward that counts at the next decision."""
    width = b.widths[b.memory.done] if b.widths.size > 0 else b.memory.window
    return b.memory.done + 1.0 - width


@part
def infer_apart(b: ForgettingApart, k: int, noise: float) -> None:
    """Set mean and variance of arm k by what counts (section 3.1); of an unknown arm rewards are all there is."""
    count = b.counts[k]
    if count <= 0.0 or b.d0[k] == 0.0:
        b.mu[k], b.d[k] = b.mu0[k], b.d0[k]
    elif b.d0[k] * count > 1e300:
        b.mu[k], b.d[k] = b.sums[k] / count, noise / count
    else:
        share = b.d0[k] / (noise / count + b.d0[k])
        b.mu[k] = b.mu0[k] + share * (b.sums[k] / count - b.mu0[k])
        b.d[k] = noise / count * share


@part
def forget_apart(b: ForgettingApart) -> None:
    """Let what is too old count no longer, and all that is left count less by the factor."""
    since = oldest(b)
    while b.memory.start < b.memory.done and b.memory.start + 1.0 < since:
        k = b.arms[uncount(b)]
        if b.memory.back > b.memory.between:
            add_up(b)
        infer_apart(b, k, b.noise[k])
    if b.memory.factor < 1.0:
        discount(b)
        for k in range(b.d.size):
            infer_apart(b, k, b.noise[k])


@part
def discount(b: Any) -> None:
    """Let all that was seen count less by the factor, and nothing once it is as good as forgotten."""
    for k in range(b.d.size):
        b.counts[k] *= b.memory.factor
        b.sums[k] *= b.memory.factor
        if b.counts[k] < HARDLY:
            b.counts[k] = b.sums[k] = 0.0


@part
def observe_forgetting(b: ForgettingApart, k: int, reward: float, noise: float) -> None:
    """Take a reward of arm k into a belief on independent arms."""
    note(b, k, reward)
    infer_apart(b, k, noise)


@part
def forget_joint(b: WindowedJoint) -> None:
    """Let what is too old count no longer."""
    since = oldest(b)
    while b.memory.start < b.memory.done and b.memory.start + 1.0 < since:
        place = uncount(b)
        k = b.arms[place]
        if b.memory.back > b.memory.between:
            compute_anew(b)
        else:
            lean(b, k, b.told[place], -b.noise[k])


@part
def observe_windowed(b: WindowedJoint, k: int, reward: float, noise: float) -> None:
    """Take a reward of arm k into a belief on correlated arms."""
    note(b, k, reward)
    lean(b, k, reward, noise)


@part
def compute_anew(b: WindowedJoint) -> None:
    """Compute the belief from its prior and the rewards that count, those of an arm as one average."""
    add_up(b)
    copy(b.S0, b.S)
    copy(b.mu0, b.mu)
    copy(b.d0, b.d)
    for k in range(b.d.size):
        if b.counts[k] > 0.0:
            lean(b, k, b.sums[k] / b.counts[k], b.noise[k] / b.counts[k])


@part
def lean(b: WindowedJoint, k: int, reward: float, noise: float) -> None:
    """Take a reward of arm k (eq. sherman-morrison), or take it back: then its noise is given as negative."""
    variance, row = b.d[k], b.row
    first = k * (k - 1) // 2
    for j in range(k):
        row[j] = b.S[first + j]
    at = first + 2 * k
    for j in range(k + 1, row.size):
        row[j] = b.S[at]
        at += j
    row[k] = variance
    total = noise + variance
    gain, over = (reward - b.mu[k]) / total, 1.0 / total
    for j in range(row.size):
        b.mu[j] += row[j] * gain
        rest = b.d[j] - row[j] * row[j] * over
        b.d[j] = rest if rest > 0.0 else 0.0
    b.d[k] = noise * (variance / total)
    first = 0
    for i in range(1, row.size):
        target, along = b.S[first : first + i], row[i] * over
        first += i
        for j in range(i):
            target[j] -= along * row[j]


@part
def weigh_windowed(b: WindowedJoint) -> None:
    """Set every w."""
    b.row[:] = 0.0
    settle_printed(b.S, b.d, b.row, b.inverse, b.floor, b.w)


@part
def discount_joint(b: DiscountedJoint) -> None:
    """Let all that was seen count less by the factor, and compute the belief from its prior and what counts."""
    discount(b)
    b.memory.rows = 0
    copy(b.mu0, b.mu)
    copy(b.d0, b.d)
    for k in range(b.d.size):
        if b.counts[k] > 0.0:
            take_average(b.S0, b.V, b.memory.rows, k, b.sums[k] / b.counts[k], b.noise[k] / b.counts[k], b.mu, b.d)
            b.memory.rows += 1


@part
def weigh_discounted(b: DiscountedJoint) -> None:
    """Set every w."""
    weigh_rows(b.S0, b.V, b.memory.rows, b.d, b.row, b.w)


@part
def observe_discounted(b: DiscountedJoint, k: int, reward: float, noise: float) -> None:
    """Count a reward of arm k; the belief follows with the next step of time."""
    b.counts[k] += 1.0
    b.sums[k] += reward
