"""Where a study stands, found out from one snapshot: what was learnt, the best arm, what is awaited."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._core.single_thread import one_thread
from corrbandits.belief import Belief, Vague
from corrbandits.policies import CorrelatedUCL, IndexPolicy, KnowledgeGradient, Policy
from corrbandits.study.arms import Arms
from corrbandits.study.choosing import moment, untried
from corrbandits.study.ledger import Ledger
from corrbandits.study.report import inference
from corrbandits.study.report.inference import Best
from corrbandits.study.report.lattice import lattice
from corrbandits.study.report.overview import Awaited, Overview, Standing
from corrbandits.study.report.sentences import learnt_in_words, prior_in_words
from corrbandits.study.report.terminal_map import TerminalMap, scattered_map
from corrbandits.study.report.warnings import warnings

if TYPE_CHECKING:
    from corrbandits.study.snapshot import Snapshot

MOST_LIMITS = 5_000
"""With more arms, limits that need every pair of them are left out."""


def overview(snapshot: Snapshot, top: int) -> Overview:
    """Return where a study stands."""
    ledger, settings, deciding = snapshot.ledger, snapshot.settings, snapshot.deciding
    belief = deciding if settings.goal == "max" else snapshot.belief
    found, why = _best(ledger, deciding)
    standings = _top(ledger, belief, deciding, checks.integer("top", top, least=1))
    return Overview(
        name=snapshot.name,
        database=snapshot.database,
        goal=settings.goal,
        prior=prior_in_words(ledger.prior),
        policy=settings.policy,
        arms=ledger.arms.count,
        t=ledger.time,
        trials=_statuses(ledger),
        best=found,
        no_best=why,
        learnt=learnt(snapshot.belief, deciding, ledger.arms),
        noise=inference.noise_check(ledger),
        warnings=warnings(ledger, snapshot.name),
        untried=int(np.count_nonzero(untried(ledger, ledger.open.values()))),
        pending=_pending(settings.policy, moment(ledger, deciding).belief),
        once=not settings.repeat,
        timeout=settings.timeout,
        open=_awaited(ledger, snapshot.at),
        top=standings,
        map=_map(ledger, belief, standings[0]),
    )


def _pending(policy: Policy, belief: Belief) -> int:
    """Return how many arms the rule tries before it prefers any; in the opening as many as are known to be needed."""
    return (
        min(belief.still_needed, belief.arms)
        if isinstance(belief, Vague)
        else int(np.count_nonzero(policy.pending(belief)))
    )


def learnt(belief: Belief, deciding: Belief, arms: Arms) -> str | None:
    """Return what a belief that was not told everything has learnt, in words; `deciding` is what choices come from."""
    if not isinstance(belief, Vague):
        return None
    if not belief.opening:
        return learnt_in_words(belief.learnt())
    before = inference.earlier_in_words(deciding, arms)
    return "nothing yet" if before is None else f"nothing yet of this season; {before}"


def _best(ledger: Ledger, deciding: Belief) -> tuple[Best | None, str | None]:
    try:
        return inference.best(deciding, ledger.arms, ledger.settings.goal, ledger.settings.seed), None
    except ValueError as error:
        return None, str(error)


def _statuses(ledger: Ledger) -> dict[str, int]:
    """Return how many trials there are of each status; those told that nobody had asked for are `observed`."""
    found = Counter(entry.kind for entry in ledger.trials)
    return {status: found[status] for status in ("told", "observed", "open", "expired", "cancelled", "retracted")}


def _awaited(ledger: Ledger, now: float) -> tuple[Awaited, ...]:
    awaited = []
    for trial, arm in ledger.open.items():
        age = now - (ledger.entry(trial).asked or now)
        late = ledger.settings.timeout is not None and age > ledger.settings.timeout
        awaited.append(Awaited(trial, arm, ledger.arms.name(arm), round(age, 3), late))
    return tuple(awaited)


def _top(ledger: Ledger, belief: Belief, deciding: Belief, count: int) -> tuple[Standing, ...]:
    """Return the arms of best mean, those of which nothing is known last."""
    known = np.isfinite(belief.variance)
    order = np.argsort(np.where(known, -deciding.mean, np.inf), kind="stable")
    if known.any():
        leader = inference.leader_of(deciding)
        order = np.concatenate([[leader], order[order != leader]])
    found = limits(ledger, deciding)
    return tuple(
        Standing(
            arm,
            ledger.arms.name(arm),
            float(belief.mean[arm]),
            math.sqrt(belief.variance[arm]),
            None if found is None or not known[arm] else float(found[arm]),
            int(belief.counts[arm]),
        )
        for arm in order[:count].tolist()
    )


def limits(ledger: Ledger, deciding: Belief) -> Array | None:
    """Return what the rule compares arms by, from what has been told, in the units of the rewards."""
    policy, goal = ledger.settings.policy, ledger.settings.goal
    pairs = isinstance(policy, KnowledgeGradient) or (isinstance(policy, CorrelatedUCL) and policy.factor)
    if not isinstance(policy, IndexPolicy) or (pairs and ledger.arms.count > MOST_LIMITS):
        return None
    try:
        with one_thread():
            found = policy.index(deciding, ledger.time)
    except ValueError:  # past the rule's horizon
        return None
    return found if goal == "max" else deciding.mirror - found


def _map(ledger: Ledger, belief: Belief, best: Standing) -> TerminalMap | None:
    means = np.where(np.isfinite(belief.variance), belief.mean, np.nan)
    some = math.isfinite(best.deviation) and ledger.tally.counts.any()
    waiting, leader = sorted(set(ledger.open.values())), best.arm if some else None
    if (grid := lattice(ledger.arms)) is not None:
        return TerminalMap(grid, means, leader, tuple(waiting), name=best.name)
    return scattered_map(ledger.arms, means, leader, waiting)
