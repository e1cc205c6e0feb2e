"""What a comparison says in words."""

from __future__ import annotations

import math

import numpy as np

from corrbandits._shell.numbers import counted, number
from corrbandits._shell.texts import cut
from corrbandits.fits.kinds import LEAST_PEOPLE, number_of_kinds, places
from corrbandits.fits.outcomes import Outcome
from corrbandits.fits.standings import FORESEEN, Standings

SURE = 0.95
MOST_NAMES, LONGEST_NAME = 5, 40
"""Of people, in a sentence."""

OF_THE_PRIOR = ("prior_mean", "prior_sd", "length")
"""The parameters in which kinds of people are looked for."""


def sentences(found: Standings) -> list[str]:
    """Return what was found, the sentence to remember first."""
    return [
        _first(found),
        *_rivals(found),
        _explained(found),
        _parameters(found),
        *_exploration(found),
        *_kinds(found),
        *_notes(found),
    ]


def _first(found: Standings) -> str:
    best = found.best
    people = counted(best.people, "person", "people")
    if len(found.rows) == 1:
        return f"{best.model} was fitted to the choices of {people}."
    if best.protected >= SURE:
        return (
            f"{best.model} is what most of {people} follow: {percent(best.share)} of them, as far as can be told "
            f"(protected exceedance probability {_probability(best.protected)})."
        )
    return (
        f"No model is surely followed by more of {people} than any other: {best.model} has the best sum, and a "
        f"protected exceedance probability of {_probability(best.protected)}."
    )


def percent(share: float) -> str:
    """Return a share in percent.

    >>> percent(0.487), percent(-0.001)
    ('49 %', '0 %')
    """
    return f"{100 * share:.0f} %".replace("-0 %", "0 %")


def _probability(p: float) -> str:
    """Return a probability that is never rounded to 1.

    >>> _probability(0.99997), _probability(0.42)
    ('above 0.999', '0.42')
    """
    return "above 0.999" if p > 0.999 else "below 0.001" if p < 0.001 else f"{p:.2g}"


def _not_foreseen(found: Standings) -> list[str]:
    """Return why models are compared by BIC, where rounds of most people could be left out."""
    alone = found.not_foreseen
    if not alone:
        return []
    names = ", ".join(cut(name, LONGEST_NAME) for name in alone[:MOST_NAMES]) + (", ..." if alone[MOST_NAMES:] else "")
    return [
        f"Models are compared by BIC: {counted(len(alone), 'person has', 'people have')} no round to leave out "
        f"({names}). Without them, rounds of all others are foreseen."
    ]


def _rivals(found: Standings) -> list[str]:
    """Return for how many people each other model is worse, and by what that is told if it is not what was asked."""
    of = "foresees rounds left out" if found.by == FORESEEN else "has the smaller BIC"
    ahead = (found.evidence[:, :1] > found.evidence[:, 1:]).sum(axis=0).tolist()
    return _not_foreseen(found) + [
        f"It {of} {'better ' if found.by == FORESEEN else ''}than {row.model} for {better} of {row.people}, by "
        f"{number(float(np.median(found.evidence[:, 0] - found.evidence[:, place])))} in the log likelihood (median)."
        for place, (row, better) in enumerate(zip(found.rows[1:], ahead, strict=True), 1)
    ]


def _explained(found: Standings) -> str:
    shares = np.array([one.share_explained for one in found.outcomes[found.best.model]])
    worse = int((shares < 0).sum())
    words = f" {counted(worse, 'person is', 'people are')} foreseen worse than by chance." if worse else ""
    low, middle, high = np.quantile(shares, [0.25, 0.5, 0.75])
    return (
        f"It explains {percent(middle)} of the log likelihood of choices (median; quartiles {percent(low)} and "
        f"{percent(high)}; 0 is chance, 100 % certainty).{words}"
    )


def _parameters(found: Standings) -> str:
    each = found.outcomes[found.best.model]
    parts = [f"{name} {quartiles(each, name)}" for name in each[0].free]
    return f"Its parameters, median and quartiles over people: {'; '.join(parts)}." if parts else "It has no parameter."


def _exploration(found: Standings) -> list[str]:
    """Return what an exploration is counted in, which depends on the prior deviation that is fixed."""
    one = found.outcomes[found.best.model][0]
    if "exploration" not in one.free or "prior_sd" not in one.values:
        return []
    unit = one.values["prior_sd"]
    if unit == 1.0:
        return [
            "An exploration is in units of reward: what an arm of which nothing is known gains by that. With "
            "--set prior_sd=20 it is counted in 20 of them."
        ]
    return [f"An exploration of 1 is worth {number(unit)} in reward to an arm of which nothing is known: prior_sd."]


def quartiles(each: list[Outcome], name: str) -> str:
    """Return the median and the quartiles of a parameter over people, in words."""
    low, middle, high = np.quantile([one.values[name] for one in each], [0.25, 0.5, 0.75]).tolist()
    return f"{number(middle)} ({number(low)} to {number(high)})"


def _kinds(found: Standings) -> list[str]:
    each = found.outcomes[found.best.model]
    names = [name for name in OF_THE_PRIOR if name in each[0].free]
    where = places(each, names) if names else np.empty((0, 0))
    if len(where) < LEAST_PEOPLE:
        return []
    first, second = number_of_kinds(where)[:2]
    what = f"{counted(len(where), 'person', 'people')} whose {', '.join(names)} could be told"
    apart = number(abs(second.bic - first.bic))
    if first.kinds == 1:
        return [f"The {what} spread about one centre: a mixture of two kinds or more has a BIC larger by {apart}."]
    sizes = ", ".join(percent(w) for w in np.sort(first.weights)[::-1])
    return [
        f"The {what} spread over {first.kinds} kinds ({sizes}) rather than {second.kinds}: the BIC is smaller by "
        f"{apart}. Kinds may also be how a skewed spread looks: see the figure."
    ]


def _notes(found: Standings) -> list[str]:
    each = found.outcomes[found.best.model]
    several = [one for one in each if one.notes]
    if not several:
        return []
    ends = [name for name in each[0].free if any(math.isinf(one.errors[name]) for one in several)]
    often = ", most often on" if len(several) > 1 else ", on"
    what = f"{often} {max(ends, key=lambda n: sum(math.isinf(o.errors[n]) for o in several))}" if ends else ""
    return [f"Of {counted(len(several), 'fit')} of {len(each)} there is something to note{what}: see the table."]
