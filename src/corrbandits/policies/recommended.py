"""Which rule to take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from corrbandits._core import checks
from corrbandits._shell.numbers import counted
from corrbandits.belief import Belief, Beta, Vague
from corrbandits.policies.base import Policy
from corrbandits.policies.horizon import Gittins
from corrbandits.policies.ucl import BayesUCB


@final
@dataclass(frozen=True)
class Recommended:
    """A rule, and why."""

    policy: Policy
    reason: str


def recommend(belief: Belief, horizon: int | None = None) -> Recommended:
    """Return the rule that loses least in our measurements on beliefs of this kind, and why.

    `horizon` is how many decisions there will be in all; None if nobody knows.

    >>> from corrbandits import Vague
    >>> recommend(Vague(coordinates=range(10)), horizon=40).policy
    Gittins(horizon=40)
    """
    decisions = None if horizon is None else checks.integer("horizon", horizon, least=1)
    if not isinstance(belief, Belief):
        raise TypeError(f"a rule is recommended for a belief, got {belief!r:.60}.")
    if isinstance(belief, Beta):
        rule: Any = BayesUCB(horizon=max(decisions or 1_000, 3), c=0.0)
        return Recommended(rule, "for rewards 0 and 1 the limits of Bayes-UCB follow from the Beta law itself")
    fades = (
        ", or for as long as what was learnt lasts, if that is less"
        if isinstance(belief, Vague) and belief.changes
        else ""
    )
    if decisions is None:
        return Recommended(
            Gittins(),
            "without an end it weighs what an arm may still bring as if as many decisions were left as were made"
            f"{fades}; say how many there will be, and it loses less",
        )
    return Recommended(
        Gittins(decisions),
        f"it weighs what each arm may still bring in the {counted(decisions, 'decision')} there will be in all{fades}",
    )
