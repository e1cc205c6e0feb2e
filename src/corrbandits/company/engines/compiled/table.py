"""What the players of a team face at each step: who may take what, and who is paid what. Parts of the loops."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.company.collisions import COLLISIONS
from corrbandits.simulation.engines.compiled.cache import part
from corrbandits.simulation.engines.compiled.choose import largest_limit

NONE, LOST, ONE, SPLIT = range(len(COLLISIONS))


class Table(NamedTuple):
    """Some steps of a run of M players on N arms: as many as `eps` has columns."""

    means: Array
    deviations: Array
    binary: bool
    rule: int  # of collisions
    sensed: bool
    turns: bool  # whether players choose one after the other, no arm twice
    thresholds: Array  # (M, N)
    schedule: Integers  # (M,) which row of the widths a player has
    twin: Integers  # (M,) an earlier player that chooses the same, or -1
    receivers: Integers  # (M,) how many numbers are sent when a player has seen a reward
    always: int  # how many are sent at every step
    taken: Integers  # (M,) the arms of this step
    seen: Array  # (M,) what players take for rewards; NaN if nothing
    there: Integers  # (N,) how many players are on each arm
    initialisation: Integers  # (M,)
    initialising: Integers  # (M,) 0 once no arm is above its threshold
    eps: Array  # (M, n)
    arms: Any  # (M, n)
    paid: Array  # (M, n)
    sent: Integers  # (n,)


@part
def clear(table: Table) -> None:
    """Begin a step: nobody is on any arm."""
    for i in range(table.there.size):
        table.there[i] = 0


@part
def settled(table: Table, p: int) -> bool:
    """Return whether an earlier player has chosen for this one too, and let it."""
    twin = table.twin[p]
    if twin < 0:
        return False
    table.taken[p] = table.taken[twin]
    return True


@part
def free_pending(table: Table, p: int, d: Array) -> int:
    """Return the arm of largest variance, of those above their threshold that are free, or -1; note initialisation."""
    arm, most, due = -1, -np.inf, False
    if not table.initialising[p]:
        return arm
    for i in range(d.size):
        if d[i] > table.thresholds[p, i]:
            due = True
            if d[i] > most and not (table.turns and table.there[i] > 0):
                arm, most = i, d[i]
    table.initialisation[p] += due
    return arm


@part
def free_limit(table: Table, mu: Array, w: Array, width: float) -> int:
    """Return the free arm of largest mu_i + width w_i, the lowest of equals."""
    if not table.turns:
        return largest_limit(mu, w, width)
    arm, most = -1, -np.inf
    for i in range(mu.size):
        limit = mu[i] + width * w[i]
        if (arm < 0 or limit > most) and table.there[i] == 0:
            arm, most = i, limit
    return arm


@part
def free_average(table: Table, mu: Array, w: Array, width: float) -> int:
    """Return the same where an arm without rewards, whose w is infinite, comes first (`baselines.UCB1`)."""
    for i in range(mu.size):
        if w[i] == np.inf and not (table.turns and table.there[i] > 0):
            return i
    return free_limit(table, mu, w, width)


@part
def sit(table: Table, p: int, k: int) -> None:
    """Note that a player takes arm k."""
    table.taken[p] = k
    if table.turns:
        table.there[k] += 1


@part
def pay(table: Table, t: int, referee: np.random.Generator) -> None:
    """Draw the rewards of a step, pay the players, and note what each sees (`collisions.outcome`)."""
    players = table.taken.size
    for p in range(players):
        k, eps = table.taken[p], table.eps[p, t]
        reward = table.means[k] + table.deviations[k] * eps
        if table.binary:
            reward = 1.0 if eps < table.means[k] else 0.0
        table.arms[p, t] = k
        table.paid[p, t] = reward
        table.seen[p] = reward
    if table.rule != NONE:
        collide(table, t, referee)
    table.sent[t] = table.always
    for p in range(players):
        if not np.isnan(table.seen[p]):
            table.sent[t] += table.receivers[p]


@part
def collide(table: Table, t: int, referee: np.random.Generator) -> None:
    """Change what those are paid and see who are not alone."""
    clear(table)
    for p in range(table.taken.size):
        table.there[table.taken[p]] += 1
    for k in range(table.there.size):
        met = table.there[k]
        if met > 1:
            winner = int(referee.random() * met) if table.rule == ONE else -1
            number = 0
            for p in range(table.taken.size):
                if table.taken[p] == k:
                    share(table, t, p, met, number == winner)
                    number += 1


@part
def share(table: Table, t: int, p: int, met: int, wins: bool) -> None:
    """Pay a player that has met others."""
    if table.rule == SPLIT:
        table.paid[p, t] /= met
    elif not wins:
        table.paid[p, t] = 0.0
        table.seen[p] = np.nan
    if not table.sensed:
        table.seen[p] = table.paid[p, t]
