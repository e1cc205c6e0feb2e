"""What a stress test plays: who, with which priors, on which surfaces, in which parts.

    part    some candidates in some settings, in all runs on one surface

Run r of the test is run r div F of surface r mod F, F being the number of surfaces.

Where arms look alike a policy takes the first of the list. So that the order of a list decides nothing, every run has
an order of its own, in which all candidates meet the arms, and noise of its own on the prior means (kind "noise").
Both are drawn for the arms in a fixed order, that of their places, so that the same arms in another order give the
same regrets to the last bit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.belief import Belief, Independent
from corrbandits.environments import Environment
from corrbandits.policies import UCL, CorrelatedUCL, IndexPolicy, Policy, by_place, recommend
from corrbandits.simulation.batches import Batch
from corrbandits.stress.names import FIXED, REFERENCES, SURVIVORS, UNINFORMATIVE, VAGUE
from corrbandits.stress.priors import Assumed, drifting
from corrbandits.stress.settings import DRIFT, Setting, corners, settings
from corrbandits.stress.truth import ranks, true_means

SURVIVOR_RUNS = 20

PART = 1e10
"""A part of the test goes through about as many numbers: some seconds, after which it is saved and the bar moves."""

PART_ENTRIES = 1 << 25
"""And the covariances it needs have no more entries."""

WEIGHTS = dict.fromkeys(SURVIVORS, 150) | {VAGUE: 10}
"""About as much longer does a step of these take."""

MOST_VAGUE = 2_000
"""Up to so many arms one plays who is told nothing: its covariances then fit into memory, 48 times arms squared.

Half as many if they drift: it keeps all its covariances then.
"""


@final
@dataclass(frozen=True)
class Plan:
    """All that the result depends on."""

    policy: Policy
    surfaces: tuple[Environment, ...]
    prior: Assumed
    accuracy: dict[str, list[float]]
    confidence: list[float]
    length: list[float]
    horizon: int
    times: Integers
    runs: int
    seed: int
    survivors: tuple[str, ...]

    @cached_property
    def settings(self) -> list[Setting]:
        """Every wrong prior, once."""
        return settings(self.accuracy, self.confidence, self.length)

    @cached_property
    def fixed(self) -> dict[str, Policy]:
        """The policies that play every setting."""
        if not isinstance(self.policy, CorrelatedUCL):
            return {"plain": self.policy}
        return {name: dataclasses.replace(self.policy, factor=name == "printed") for name in FIXED}

    @property
    def main(self) -> str:
        """The candidate that is the policy as it was given."""
        return next(name for name, policy in self.fixed.items() if policy == self.policy)

    @property
    def candidates(self) -> list[str]:
        """The names of all who play."""
        return [*self.fixed, *self.references, *self.survivors]

    @property
    def references(self) -> tuple[str, ...]:
        """Those whom the prior is measured against; told nothing of very many arms, nobody plays in time."""
        most = MOST_VAGUE // 2 if self.prior.drifts else MOST_VAGUE
        return tuple(name for name in REFERENCES if name != VAGUE or len(self.prior.mean) <= most)

    def reference(self, name: str, order: Integers) -> tuple[Policy, Belief]:
        """Return who plays without a prior of each arm, arms in an order; the printed rule as `UCL`, others as is.

        It knows nothing, or the mean and the deviation of all true means, which drift as the prior says. Told no more
        than where arms lie and whether they drift, it is the recommended rule.
        """
        if name == VAGUE:
            belief = self.prior.reordered(order).told_nothing()
            return recommend(belief, self.horizon).policy, belief
        policy, noise = self.policy.renumbered(order), self.prior.noise_variance[order]
        if isinstance(policy, CorrelatedUCL):
            policy = UCL(K=policy.K, a=policy.a)
        if name == UNINFORMATIVE:
            return policy, Independent(noise_variance=noise, arms=noise.size)
        mean, deviation = self.overall
        apart = Independent(mean=mean, variance=deviation**2, noise_variance=noise, arms=noise.size)
        return policy, drifting(apart, self.prior.drift)

    @cached_property
    def overall(self) -> tuple[float, float]:
        """The mean and deviation of the true means of all surfaces and times; 1 for the deviation if there is none."""
        means = np.sort(np.concatenate([true_means(surface, self.horizon).ravel() for surface in self.surfaces]))
        return float(means.mean()), float(means.std()) or 1.0

    @cached_property
    def standing(self) -> Integers:
        """The arms by place, then by means and noise: an order that does not depend on how they are listed."""
        true = (ranks(true_means(surface, self.horizon)) for surface in self.surfaces)
        keys = [self.prior.mean, self.prior.noise_variance, *true]
        return by_place(self.prior.coordinates, np.lexsort(keys))

    def dealt(self, surface: int, run: int) -> tuple[Integers, Array]:
        """Return the order of the arms in a run of a surface, and what an accuracy of 1 of the kind noise adds."""
        rng = np.random.default_rng(np.random.SeedSequence([self.seed, surface, 1], spawn_key=(run,)))
        return self.standing[rng.permutation(self.standing.size)], rng.standard_normal(self.standing.size)

    def seed_of(self, surface: int, run: int) -> int:
        """Return the seed of a run of a surface: no two share their noise."""
        entropy = np.random.SeedSequence([self.seed, surface, 2], spawn_key=(run,))
        return int(entropy.generate_state(1, np.uint64)[0] >> np.uint64(1))

    def players(self, part: Part, order: Integers, noise: Array) -> list[tuple[Policy, Belief]]:
        """Return who plays a part, and with which prior of arms in an order; candidates of one setting share it."""
        given = self.prior.reordered(order)
        prior = lru_cache(maxsize=1)(lambda setting: given.belief(setting, noise))

        def player(name: str, setting: Setting) -> tuple[Policy, Belief]:
            if name in REFERENCES:
                return self.reference(name, order)
            if name in self.fixed:
                return self.fixed[name].renumbered(order), prior(setting)
            return self.policy.renumbered(order), _survivor(name, given, setting, noise)

        return [player(name, setting) for name, setting in part.players]

    def refuse_what_cannot_be_played(self) -> None:
        """Try every length and policy, and every drift, before the work, so that nothing fails in the middle of it."""
        kind, noise = next(iter(self.accuracy)), np.zeros(len(self.prior.mean))
        tried = [Setting(kind, self.accuracy[kind][0], max(self.confidence), length) for length in self.length]
        for setting in (*tried, *(Setting(DRIFT, x) for x in self.accuracy.get(DRIFT, ()))):
            belief = self.prior.belief(setting, noise)
            for policy in self.fixed.values():
                if isinstance(policy, IndexPolicy):
                    policy.index(belief, 1)
                    policy.index(belief, self.horizon)


@final
@dataclass(frozen=True)
class Part:
    """Some of the work: candidates in settings, on one surface, in runs 0 to n - 1 of that surface."""

    surface: int
    runs: int
    players: tuple[tuple[str, Setting], ...]

    @property
    def weight(self) -> int:
        """About how long it takes."""
        return self.runs * sum(WEIGHTS.get(name, 1) for name, _ in self.players)

    def batch(self, number: int) -> Batch:
        """Return under what it is saved: its number, and how many runs of all players it is."""
        return Batch(number, 0, self.runs * len(self.players))


def parts(plan: Plan) -> Iterator[Part]:
    """Yield all the work."""
    family, arms = len(plan.surfaces), len(plan.prior.mean)
    for surface in range(min(family, plan.runs)):
        runs = len(range(surface, plan.runs, family))
        cost = arms**2 * plan.horizon * runs * len(plan.fixed)
        size = int(max(1, min(PART / cost, PART_ENTRIES / arms**2)))
        for first in range(0, len(plan.settings), size):
            chosen = plan.settings[first : first + size]
            flat = [] if first else [(name, plan.settings[0]) for name in plan.references]
            yield Part(surface, runs, (*flat, *((name, setting) for setting in chosen for name in plan.fixed)))
    for surface in range(min(family, plan.runs, SURVIVOR_RUNS)):
        runs = len(range(surface, min(plan.runs, SURVIVOR_RUNS), family))
        for setting in corners(plan.accuracy, plan.confidence, plan.length) if plan.survivors else ():
            yield Part(surface, runs, tuple((name, setting) for name in plan.survivors))


def _survivor(name: str, prior: Assumed, setting: Setting, noise: Array) -> Belief:
    from corrbandits.belief import Elimination, Refitting

    if name == "elimination":
        return Elimination(prior.alternatives(setting, noise))
    return Refitting(**prior.wrong(setting, noise))
