"""The names of candidates, factors, settings and truths, the same in the CSV, in sentences, figures and on the page."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from corrbandits._shell.numbers import counted, number
from corrbandits.environments import Environment
from corrbandits.stress.settings import AS_GIVEN, DRIFT, Setting
from corrbandits.stress.truth import true_means

UNINFORMATIVE, FIXED, SURVIVORS = "uninformative", ("printed", "plain"), ("elimination", "refitting")
INDEPENDENT = "independent"
"""The name, in the CSV, of arms that say nothing of each other, of the mean and deviation that the true means have."""

VAGUE = "vague"
"""The name, in the CSV, of the recommended rule on a prior that is told nothing but where arms lie."""

REFERENCES = (UNINFORMATIVE, INDEPENDENT, VAGUE)
"""Those whom the prior is measured against: they play the same in every setting."""

HELD = "fixed"
"""The name, in the CSV, of the fixed prior in just the runs in which survivors were played."""

NOMINAL = {**AS_GIVEN, "confidence": 1.0, "length": 1.0}
"""The value of each factor that leaves the prior as it was given."""

_CANDIDATES = {
    "printed": "printed index",
    "plain": "plain index",
    "elimination": "elimination",
    "refitting": "refitting",
    UNINFORMATIVE: "uninformative prior",
    INDEPENDENT: "independent arms",
    VAGUE: "told nothing",
    HELD: "prior held fixed",
}
_AXES = {
    "shift": "prior means shifted by{units}",
    "scale": "prior means' contrast times",
    "noise": "noise on prior means{units}",
    "swap": "high and low swapped (share)",
    DRIFT: "scale of the drift times",
    "confidence": "prior variance times",
    "length": "prior length times",
}
_CHANGES = {
    "shift": "means shifted by {}",
    "scale": "contrast of means × {}",
    "noise": "noise of {} on means",
    "swap": "high and low swapped: {}",
    DRIFT: "scale of the drift × {}",
    "confidence": "variance × {}",
    "length": "length × {}",
}

TAKEN = "means taken for fixed"
"""What an infinite scale of the drift does."""


def candidate_name(candidate: str, played: Collection[str]) -> str:
    """Return the name of a candidate; where only one index was played, it is just the policy.

    >>> candidate_name("plain", ("printed", "plain")), candidate_name("plain", ("plain", "uninformative"))
    ('plain index', 'policy')
    """
    return "policy" if candidate == "plain" and "printed" not in played else _CANDIDATES[candidate]


def axis_label(factor: str, about: Mapping[str, Any]) -> str:
    """Return what the axis of a factor says; `about` are the test's attributes."""
    units = about.get("units", "")
    return _AXES[factor].format(units=f" ({units})" if units else "")


def changes(setting: Setting) -> list[str]:
    """Return how a setting's prior differs from the one given, a few words for each factor.

    >>> changes(Setting("shift", -2.0, 0.1, 1.0)), changes(Setting("noise", 0.0, 1.0, 1.0))
    (['means shifted by -2', 'variance × 0.1'], ['as given'])
    >>> changes(Setting("drift", math.inf, 10.0))
    ['means taken for fixed', 'variance × 10']
    """
    amounts = {setting.kind: setting.accuracy, "confidence": setting.confidence, "length": setting.length}
    changed = {factor: x for factor, x in amounts.items() if not is_nominal(factor, x)}
    said = (_CHANGES[factor].format(number(x)) if x < math.inf else TAKEN for factor, x in changed.items())
    return list(said) or ["as given"]


def amount(value: float, digits: int) -> str:
    """Return a value of a factor beside an axis; an infinite scale of the drift takes the means for fixed.

    >>> amount(3.162, 2), amount(math.inf, 2)
    ('3.2', 'fixed')
    """
    return number(value, digits) if value < math.inf else "fixed"


def is_nominal(factor: str, value: float) -> bool:
    """Return whether a value of a factor leaves the prior as it was given, up to rounding."""
    return math.isclose(value, NOMINAL[factor], rel_tol=1e-5, abs_tol=1e-8)


def truth_in_words(surfaces: Sequence[Environment], horizon: int) -> str:
    """Return the truth in a few words; where means change, over all times up to the horizon.

    >>> from corrbandits import BernoulliBandit, ChangingBandit, GaussianBandit
    >>> truth_in_words([GaussianBandit([1.0, 2.0, 5.25], 4.0)], 10)
    '3 arms with means from 1 to 5.25 and noise of variance 4'
    >>> truth_in_words([BernoulliBandit([0.1, 0.5])] * 3, 10)
    '3 surfaces of 2 arms with means from 0.1 to 0.5'
    >>> truth_in_words([ChangingBandit([[1.0, 2.0], [0.0, 3.0]], 4.0)], 2)
    '2 arms with means that change, from 0 to 3, and noise of variance 4'
    """
    means = np.concatenate([true_means(surface, horizon).ravel() for surface in surfaces])
    several = f"{len(surfaces):,} surfaces of " if len(surfaces) > 1 else ""
    noise = {number(x) for surface in surfaces for x in surface.noise_variance.tolist()}
    alike = f" and noise of variance {noise.pop()}" if len(noise) == 1 else ""
    arms, reach = counted(surfaces[0].arms, "arm"), f"from {number(means.min())} to {number(means.max())}"
    reach = f"that change, {reach}{',' if alike else ''}" if any(each.changes for each in surfaces) else reach
    return f"{several}{arms} with means {reach}{alike}"
