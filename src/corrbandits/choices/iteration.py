"""The iteration that finds a population: a law, what people share, and everybody's mode under both, in turns.

Huys, Cools, Goelzer, Friedel, Heinz, Dolan and Dayan (2011), Disentangling the roles of approach, activation and
valence in instrumental and Pavlovian responding, text S1. The notation is that of `modes`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.choices.likelihood import Problem
from corrbandits.choices.modes import Law, Mode, most_likely
from corrbandits.choices.parameters import PARAMETERS
from corrbandits.choices.sharing import Fits
from corrbandits.choices.spreading import SideBySide

LEAST_SPREAD = 1e-2
"""The smallest deviation over people, in units by which utilities move by about 1."""

FASTEST = 10.0
"""How many times larger or smaller a variance may become in a step."""

SLOWEST = 1 / 16
"""The smallest share of a step."""

CLOSE = 1e-3
"""The log evidence that further steps are expected to gain, below which there are none."""

QUARTILES = 1.349
"""The quartiles of a normal law are so many deviations apart."""


@final
@dataclass(frozen=True, eq=False)
class State:
    """Where the iteration is: the law, what people share, and everybody's mode under both."""

    law: Law
    shared: dict[str, float]
    modes: tuple[Mode, ...]
    steps: tuple[float, ...] = ()
    pace: float = 1.0
    """The share of a step that is taken: half of what it was, each time that a step has led downwards."""

    @property
    def log_evidence(self) -> float:
        """Of all people."""
        return float(sum(mode.log_evidence for mode in self.modes))

    @property
    def is_settled(self) -> bool:
        """Whether what is left to gain is little, if gains go on falling as they do (Aitken)."""
        if len(self.steps) < 4:
            return False
        before, last = np.diff(self.steps[-3:])
        rate = min(abs(last) / abs(before), 0.99) if before else 0.0
        return bool(abs(last) / (1 - rate) < CLOSE)


@final
@dataclass(frozen=True, eq=False)
class Iteration:
    """How a population is looked for: on whose choices, by whom, and with which kind of law."""

    alone: Fits
    """Everybody fitted alone, where it begins."""

    problems: list[Problem]
    correlated: bool
    side_by_side: SideBySide

    @cached_property
    def least(self) -> Array:
        """The smallest deviation of each parameter over people."""
        return LEAST_SPREAD * self._units

    @cached_property
    def _units(self) -> Array:
        return _units_of(self.problems, [one.values for one in self.alone], self.alone.model.free)

    @cached_property
    def _lines(self) -> Array:
        """Where everybody is found alone, (people, parameters)."""
        names = self.alone.model.free
        return np.array([[PARAMETERS[name].line(one.values[name]) for name in names] for one in self.alone])

    def firsts(self) -> list[State]:
        """Return states to begin with: under a law as wide as people are spread, and as the middle half of them are.

        A law must not be too narrow: people would be held at places near the others, and not leave them again; nor as
        wide as those who have run far away, who count as the twentieth person of twenty does, or not at all.
        """
        lines = self._lines
        near = np.clip(lines, *np.quantile(lines, [0.05, 0.95], axis=0))
        low, middle, high = np.quantile(lines, [0.25, 0.5, 0.75], axis=0)
        laws = [(near.mean(axis=0), near.std(axis=0)), (middle, (high - low) / QUARTILES)]
        return [self._first(near, m, np.maximum(spread, self._units / 2)) for m, spread in laws]

    def _first(self, near: Array, m: Array, spread: Array) -> State:
        law, unknown = Law(self.alone.model.free, m, np.diag(spread**2)), np.zeros((m.size, m.size))
        starts = [([own, own_near, m], unknown) for own, own_near in zip(self._lines, near, strict=True)]
        return State(law, dict(self.alone.shared), self._modes(law, self.alone.shared, starts))

    def settled(self, state: State, most_steps: int, show: Callable[[int], None]) -> State:
        """Return where the state does not move any more; after so many steps, the best that was on the way.

        `show` is told how many steps there were.
        """
        best = state
        for step in range(most_steps):
            state = self._stepped(state)
            best = max(best, state, key=lambda one: one.log_evidence)
            show(step + 1)
            if state.is_settled:
                state, is_better = self._looked_again(state)
                if not is_better:
                    return state
        return replace(best, steps=state.steps)

    def _stepped(self, state: State) -> State:
        """Return the state after a step: a law from the modes and what they leave uncertain, and the modes under it."""
        ahead = self._within(_next_law(state, self.least, self.correlated))
        law, shared = _between(state.law, ahead, state.pace), _moved(state, self.problems)
        modes = self._modes(law, shared, [([mode.z], mode.H) for mode in state.modes])
        evidence = sum(mode.log_evidence for mode in modes)
        pace = state.pace if evidence > state.log_evidence - CLOSE else max(state.pace / 2, SLOWEST)
        return State(law, shared, modes, (*state.steps, evidence), pace)

    def _within(self, law: Law) -> Law:
        """Return a law whose mean is not beyond everybody who is fitted alone, and which is no wider than all are.

        Few choices put no bound on a law: it would run away to where nothing can be computed.
        """
        low, high = self._lines.min(axis=0), self._lines.max(axis=0)
        widest = np.maximum(high - low, self._units)
        share = np.minimum(widest / np.sqrt(law.V.diagonal()), 1.0)
        return Law(law.names, np.clip(law.m, low, high), law.V * np.outer(share, share))

    def _looked_again(self, state: State) -> tuple[State, bool]:
        """Return the state with higher modes if there are any about the mean, and whether there are."""
        law, p = state.law, len(state.law.m)
        around = [law.m, *(law.m + sign * 1.5 * law.C[:, k] for k in range(p) for sign in (1, -1))]
        again = replace(state, modes=self._modes(law, state.shared, [([m.z, *around], m.H) for m in state.modes]))
        return again, again.log_evidence - state.log_evidence > CLOSE

    def _modes(self, law: Law, shared: dict[str, float], starts: Sequence[Any]) -> tuple[Mode, ...]:
        """Return everybody's mode (the E step)."""
        each = list(zip(self.problems, starts, strict=True))
        return tuple(self.side_by_side(partial(_own_mode, law, shared), each))


def _own_mode(law: Law, shared: dict[str, float], one: tuple[Problem, tuple[list[Array], Array]]) -> Mode:
    problem, (starts, H) = one
    return most_likely(problem, law, {**problem.model.fixed, **shared}, starts, H)


def _next_law(state: State, least: Array, correlated: bool) -> Law:
    """Return a law under which people as they are found are more likely (the M step).

    Mean and covariance take Newton's steps: where people hardly differ, the usual step, to the mean and covariance of
    what is known of everybody, is a small one.
    """
    law = state.law
    W, S = np.linalg.inv(law.V), np.array([mode.S for mode in state.modes])
    z = np.array([mode.center for mode in state.modes])
    told = W - W @ S @ W
    m = law.m + np.linalg.lstsq(told.sum(axis=0), W @ (z - law.m).sum(axis=0))[0]  # nobody may tell of a direction
    usual = (z - m).T @ (z - m) / len(z) + S.mean(axis=0)
    if correlated:
        return Law(law.names, m, _at_least(_ahead(law.C, usual, told), least))
    V, w = law.V.diagonal(), np.diagonal(told, axis1=1, axis2=2)
    score = len(z) * (usual.diagonal() - V) / V**2
    ahead = np.clip(V + score / (w**2).sum(axis=0), V / FASTEST, V * FASTEST)
    return Law(law.names, m, np.diag(np.maximum(ahead, least**2)))


def _between(one: Law, other: Law, share: float) -> Law:
    """Return a law on the way from one to another."""
    m, V = (a + share * (b - a) for a, b in ((one.m, other.m), (one.V, other.V)))
    return Law(one.names, m, V)


def _ahead(C: Array, usual: Array, told: Array) -> Array:
    """Return a covariance after Newton's step, from the usual one and what everybody tells of the mean.

    In u, where the covariance is I, the step is T^-1 (usual - I) T^-1, T^2 the mean of the squares of what is told. It
    is that of the variances where nothing is correlated, and people tell about as much as each other.
    """
    inward = np.linalg.inv(C)
    T = C.T @ told @ C
    each, ways = np.linalg.eigh((T @ T).mean(axis=0))
    shrink = ways / np.sqrt(np.maximum(each, 1e-12)) @ ways.T
    step = shrink @ (inward @ usual @ inward.T - np.eye(len(C))) @ shrink
    each, ways = np.linalg.eigh(np.eye(len(C)) + (step + step.T) / 2)
    return np.asarray(C @ (ways * np.clip(each, 1 / FASTEST, FASTEST) @ ways.T) @ C.T)


def _at_least(V: Array, least: Array) -> Array:
    """Return a covariance in which no direction has less than the least spread."""
    each, ways = np.linalg.eigh(V / np.outer(least, least))
    return np.asarray((ways * np.maximum(each, 1.0)) @ ways.T * np.outer(least, least))


def _moved(state: State, problems: list[Problem]) -> dict[str, float]:
    """Return what people share after a Newton step, which moves utilities by about 1 at most."""
    if not state.shared:
        return {}
    names = tuple(state.shared)
    units = _units_of(problems, [mode.values for mode in state.modes], names)
    each, ways = np.linalg.eigh(told(state) * np.outer(units, units))
    score = units * np.sum([mode.score for mode in state.modes], axis=0)
    step = units * np.clip(ways @ ((ways.T @ score) / np.maximum(np.abs(each), 1e-9)), -1.0, 1.0)
    places = [PARAMETERS[name].line(state.shared[name]) + d for name, d in zip(names, step.tolist(), strict=True)]
    return {name: PARAMETERS[name].value(z) for name, z in zip(names, places, strict=True)}


def told(state: State) -> Array:
    """Return what all choices tell of the parameters that people share."""
    return np.asarray(np.sum([mode.told for mode in state.modes], axis=0))


def _units_of(problems: list[Problem], values: Sequence[dict[str, float]], names: Sequence[str]) -> Array:
    """Return by how much each parameter moves the utilities of a typical person by about 1."""
    each = [[problem.natural_unit(name, own) for name in names] for problem, own in zip(problems, values, strict=True)]
    return np.asarray(np.median(each, axis=0))
