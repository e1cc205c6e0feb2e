"""What a study was created with, as the event that creates it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, final

from corrbandits._core import checks
from corrbandits.belief import Belief
from corrbandits.policies import Policy
from corrbandits.study.arms import Arms, checked_name
from corrbandits.study.codec import Data, policy_data, policy_from, prior_data
from corrbandits.study.recipe import Recipe

FORMAT = 1
Goal = Literal["max", "min"]


@final
@dataclass(frozen=True)
class Settings:
    """What a study was created with."""

    recipe: Recipe
    policy: Policy
    arms: Arms
    seed: int = 0
    goal: Goal = "max"
    repeat: bool = True
    timeout: float | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        checks.set_field(self, "seed", checks.integer("seed", self.seed, least=0))
        if self.goal not in ("max", "min"):
            raise ValueError(f'goal must be "max" or "min", got {self.goal!r:.60}.')
        checks.flag("repeat", self.repeat)
        if self.timeout is not None:
            checks.set_field(self, "timeout", checks.number("timeout (in seconds)", self.timeout, above=0))
        if self.unit is not None:
            checked_name("the unit of rewards", self.unit)
        if self.arms.count != self.recipe.arms:
            raise ValueError(f"arms must be as many as the prior's {self.recipe.arms}, got {self.arms.count}.")

    @property
    def prior(self) -> Belief:
        """What was believed when the study was created."""
        return self.recipe.belief

    def event(self) -> Data:
        """Return the event that creates the study."""
        rest: Data = {"seed": self.seed, "goal": self.goal, "repeat": self.repeat, "timeout": self.timeout}
        rest |= {} if self.unit is None else {"unit": self.unit}
        described = {"prior": prior_data(self.prior), "policy": policy_data(self.policy), "arms": self.arms.data()}
        return {"event": "created", "format": FORMAT, **rest, **described}

    @staticmethod
    def from_event(event: Mapping[str, Any]) -> Settings:
        """Return the settings that an event describes."""
        if event.get("event") != "created":
            raise ValueError(f"a study's first event must be `created`, got {event.get('event')!r:.40}.")
        if checks.integer("the format", event.get("format"), least=1) > FORMAT:
            raise ValueError(
                f"a study must be of format {FORMAT} at most, but this is of format {event['format']}: a newer "
                "corrbandits made it. Upgrade this one."
            )
        rest = {name: event[name] for name in ("seed", "goal", "repeat", "timeout", "unit") if name in event}
        described = Recipe.from_data(event.get("prior", {})), policy_from(event.get("policy", {}))
        return Settings(*described, Arms.from_data(event.get("arms", {})), **rest)


def refuse_other_types(prior: Any, policy: Any) -> None:
    """Refuse a prior that is no belief, and a policy that is no rule; None stands for none."""
    if prior is not None and not isinstance(prior, Belief):
        raise TypeError(f"a study's prior is a belief such as Correlated(...), got {prior!r:.60}.")
    if policy is not None and not isinstance(policy, Policy):
        raise TypeError(f"a study's policy is a rule such as UCL(), got {policy!r:.60}.")
