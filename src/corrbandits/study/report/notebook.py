"""What a notebook shows of a study, of why an arm was chosen, and of the best arm."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from corrbandits._shell import notebook
from corrbandits._shell.numbers import counted, number
from corrbandits.study.report.inference import leader_of
from corrbandits.study.report.lattice import across_and_up, shrink

if TYPE_CHECKING:
    from corrbandits.study.explaining import Explanation
    from corrbandits.study.report.inference import Best
    from corrbandits.study.snapshot import Snapshot

MOST = 6  # arms in the table


def study(now: Snapshot) -> str:
    """Return where a study stands as HTML."""
    found = now.overview(MOST)
    rewards = found.trials["told"] + found.trials["observed"]
    title = f"Study {now.name}: {counted(found.arms, 'arm')}, {counted(rewards, 'reward')}"
    waiting = f", {counted(len(found.open), 'open trial')}" if found.open else ""
    rows = [(one.name, number(one.mean, 4), number(one.deviation), f"{one.rewards:,}") for one in found.top]
    table = notebook.table(("arm", "mean", "sd", "rewards"), rows) if rewards else ""
    return notebook.block(title + waiting, *(f"<p>{escape(text)}</p>" for text in found.warnings), _map(now), table)


def explanation(found: Explanation) -> str:
    """Return why an arm was chosen as HTML: it beside the runner-up, and the sentence."""
    first, _, _ = str(found).partition("\n")
    if found.opening:
        return notebook.block(first)
    compared = [one for one in (found.chosen, found.runner_up) if one is not None]
    rows = [
        (one.name, number(one.mean, 4), number(one.deviation), "–" if one.limit is None else number(one.limit, 4))
        for one in compared
    ]
    return notebook.block(first, notebook.table(("arm", "mean", "sd", "limit"), rows))


def best(found: Best) -> str:
    """Return the best arm as HTML: how sure that is, and what stopping would cost."""
    sure = number(found.probability), number(found.probability_error, 1)
    cost = number(found.expected_loss), number(found.expected_loss_error, 1)
    rows = [
        ("mean reward", number(found.mean, 4), number(found.deviation, 2)),
        ("probability that none is better", *sure),
        ("expected loss if you stop now", *cost),
    ]
    return notebook.block(f"Best so far: {found.name}", notebook.table(("", "", "±"), rows))


def _map(now: Snapshot) -> str:
    """Return a map of the means, or a line with a band; "" where nobody knows where arms lie."""
    places, belief = across_and_up(now.arms), now.belief
    known = np.isfinite(belief.variance)
    if places is None or not known.any():
        return ""
    mean, deviation = np.where(known, belief.mean, np.nan), np.where(known, belief.deviation, np.nan)
    across, up = places
    if up is None:
        return notebook.strip(across, mean, deviation, f"the mean reward along {now.arms.axes[0]}, and two deviations")
    leader = leader_of(now.deciding) if belief.counts.any() else None
    return notebook.field(across * shrink(now.arms), up, mean, f"a map of the mean reward in {now.name}", leader)
