"""How sharply the likelihood falls about a point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.choices.likelihood import Problem
from corrbandits.choices.parameters import PARAMETERS

STEP = 1e-4
"""Of the differences of gradients, in units by which utilities move by about 1."""


def curvature(problem: Problem, values: Mapping[str, float], names: Sequence[str]) -> Array:
    """Return minus the second derivatives of the log likelihood along the lines of these parameters.

    >>> from corrbandits.choices import Model, Person, Round
    >>> somebody = Person([Round([0, 1, 1], [1.0, 3.0, 2.0])], arms=4)
    >>> model = Model(prior_mean=0.0, exploration=1.0, prior_sd=1.0)
    >>> curvature(Problem(somebody, model), model.complete({"temperature": 1.0}), ["temperature"]).round(3)
    array([[0.293]])
    """
    rows = np.array([_change(problem, values, name, names) for name in names]).reshape(len(names), len(names))
    return np.asarray(-(rows + rows.T) / 2)


def _change(problem: Problem, values: Mapping[str, float], name: str, others: Sequence[str]) -> list[float]:
    """Return the second derivatives along one line and all others, by central differences."""
    parameter = PARAMETERS[name]
    place = parameter.line(values[name])
    step = STEP * problem.natural_unit(name, values)
    sides = [problem.gradient({**values, name: parameter.value(place + s)})[1] for s in (step, -step)]
    return [(sides[0][other] - sides[1][other]) / (2 * step) for other in others]
