"""The loops of players who see rewards and whose rule is any that gives values to arms, with rules around it or none.

All players have the same rule and prior. What a choice needs and leaves nothing in is shared; of each player are its
generator, the arm before, how far its initialisation is, and the plan of `OnGraph`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.belief import GaussianBelief
from corrbandits.company.engines.compiled.loops import joint_at
from corrbandits.company.engines.compiled.table import Table, pay, settled, sit
from corrbandits.company.sharing import circles, hearing
from corrbandits.company.team import Team
from corrbandits.simulation.engines.compiled import state
from corrbandits.simulation.engines.compiled.around_choose import early_arm
from corrbandits.simulation.engines.compiled.around_loops import choice_of, parts_of, within_of
from corrbandits.simulation.engines.compiled.around_state import (
    PLAN,
    Layers,
    Within,
    draws,
    innermost,
    layers_of,
    schedules_of,
)
from corrbandits.simulation.engines.compiled.cache import Part, assembled, distinct, part
from corrbandits.simulation.engines.compiled.state import Apart, Steps


class Circles(NamedTuple):
    """What M players of C circles have each, or each circle."""

    circle: Integers  # (M,) which belief each player has
    hears: Any  # (C, M) whose rewards each belief sees
    counts: Array  # (C, N) how often each belief saw an arm
    sums: Array  # (C, N) and what that gave
    last: Integers  # (M,) the arm of each player before, or -1
    progress: Any  # (M,) records of PROGRESS
    plans: Any  # (M,) records of PLAN


@part
def apart_at(b: Apart, c: int) -> Any:
    """Return one of several beliefs on independent arms."""
    return Apart(b.mu[c], b.d[c], b.w[c])


@part
def steps_at(steps: Steps, of: Circles, p: int) -> Any:
    """Return the steps of one player."""
    return Steps(
        steps.means,
        steps.stride,
        steps.deviations,
        steps.binary,
        steps.noise,
        steps.thresholds,
        of.sums[of.circle[p]],
        of.progress[p],
        steps.eps,
        steps.arms,
        steps.rewards,
        steps.done,
        steps.before,
    )


@part
def layers_at(layers: Layers, of: Circles, p: int) -> Any:
    """Return the rules around a rule with the plan of one player."""
    return Layers(
        layers.kinds,
        layers.numbers,
        layers.widths,
        layers.schedules,
        layers.safes,
        layers.walk,
        layers.walk_depth,
        layers.travel,
        layers.largest,
        layers.recurs,
        layers.costs,
        layers.next_arm,
        layers.passed,
        layers.values,
        layers.law,
        layers.sorted,
        of.plans[p],
    )


@part
def within_at(within: Within, of: Circles, generators: Any, p: int) -> Any:
    """Return what the rule of one player needs besides its belief."""
    return Within(
        within.epsilon,
        of.counts[of.circle[p]],
        within.root,
        within.log_m,
        within.log_n,
        within.g,
        within.row,
        within.rank,
        generators[p % len(generators)],
    )


@cache
def team_loop_of(value: Part, observe: Part, at: Part) -> Any:
    """Return the loop of players who give values to arms, choose by them and by the layers, and hear of rewards."""
    choose = choice_of(value, early_arm)

    def team_loop(
        b: Any,
        of: Circles,
        generators: Any,
        steps: Steps,
        schedule: Array,
        layers: Layers,
        within: Within,
        table: Table,
        referee: np.random.Generator,
    ) -> None:
        for t in range(table.eps.shape[1]):
            for p in range(of.circle.size):
                if not settled(table, p):
                    own, its = layers_at(layers, of, p), within_at(within, of, generators, p)
                    one = at(b, of.circle[p])
                    k = choose(one, steps_at(steps, of, p), schedule[t], own, its, of.last[p], t)
                    sit(table, p, k)
                    of.last[p] = k
            pay(table, t, referee)
            for c in range(of.hears.shape[0]):
                one = at(b, c)
                for p in range(of.circle.size):
                    if of.hears[c, p] and not np.isnan(table.seen[p]):
                        k = table.taken[p]
                        of.counts[c, k] += 1.0
                        of.sums[c, k] += table.seen[p]
                        observe(one, k, table.seen[p], steps.noise[k])

    return assembled(team_loop, (value, observe, at), distinct)


class Around:
    """Goes on with a run of such a team."""

    def __init__(self, team: Team, generators: Sequence[np.random.Generator]) -> None:
        policy, prior = team.players[0]
        assert isinstance(prior, GaussianBelief), "others are refused before a run begins"
        self._policy, self._done = policy, 0
        of_players, firsts = circles(team)
        states: list[Any] = [state.state_of(prior) for _ in firsts]
        self._state = state.stacked(states)
        self._circles = _circles(team, np.array(of_players), hearing(team)[firsts], prior)
        self._generators = tuple(generators) if draws(policy) else tuple(generators[:1])
        self._layers = layers_of(policy, prior, recurs=False)
        self._within = within_of(innermost(policy), prior, generators[0])
        value, observe = parts_of(innermost(policy), states[0])
        self._loop = team_loop_of(value, observe, apart_at if isinstance(states[0], Apart) else joint_at)
        self._steps = _steps(prior)
        self.watched = [self._state.mu, self._circles.sums]

    def __call__(self, table: Table, widths: Array, _: Array, referee: np.random.Generator) -> None:
        """Make as many steps as the table has noise for."""
        until = self._done + table.eps.shape[1]
        layers = self._layers._replace(schedules=schedules_of(self._policy, np.arange(self._done + 1, until + 1)))
        steps = self._steps._replace(thresholds=table.thresholds[0].copy())
        of = self._circles
        self._loop(self._state, of, self._generators, steps, widths[0], layers, self._within, table, referee)
        table.initialisation[:] = of.progress["initialisation"]
        self._done = until


def _steps(prior: GaussianBelief) -> Steps:
    """Return what a rule reads of the steps; the rest is of each player, or on the table."""
    none = np.zeros(0)
    return Steps(
        means=none,
        stride=0,
        deviations=none,
        binary=False,
        noise=prior.noise_variance,
        thresholds=none,
        sums=none,
        progress=state.record(state.PROGRESS),
        eps=none,
        arms=none.astype(np.int64),
        rewards=none,
        done=0,
        before=-1,
    )


def _circles(team: Team, circle: Integers, hears: Any, prior: GaussianBelief) -> Circles:
    players = len(team)
    progress, plans = state.records(players, state.PROGRESS, initialising=1), state.records(players, PLAN, goal=-1)
    counts, sums = (np.tile(np.asarray(of, dtype=np.float64), (len(hears), 1)) for of in (prior.counts, prior.sums))
    return Circles(circle, hears, counts, sums, np.full(players, -1), progress, plans)
