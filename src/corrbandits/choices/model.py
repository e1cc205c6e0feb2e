"""What is said of people before their choices are looked at: their belief, their rule, and what is fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits.choices.parameters import PARAMETERS
from corrbandits.choices.priors import Prior, Steady
from corrbandits.kernels import Kernel
from corrbandits.policies import CorrelatedUCL, CrediblePolicy, Greedy, IndexPolicy, LimitPolicy

Setting = float | Literal["free", "shared"] | None
Rule = IndexPolicy | Callable[[int], IndexPolicy]

ANY = 1_000
"""A horizon, to see what kind of rule a class makes."""


@final
@dataclass(frozen=True)
class Model:
    """A model of choices: a belief about the arms, an index, and a softmax of it.

    The utility of arm a is (mean + exploration * bonus) / temperature, and `stickiness` if a was taken last, less
    `distance` times how far it is from there; a choice is exp(utility) over the sum of them, or, in a share `lapse` of
    cases, any arm.

    The mean is that of the belief: `prior`, by default means that do not change, correlated by the `kernel` (give it
    the length 1, so that `length` is the length) or independent without one. The bonus is what `rule` adds to it:
    without a rule the standard deviation, of `UCL()` or any other its index less the mean. A rule that must know how
    many choices there are is given as a class, such as `HorizonUCL`, and called with the horizon of each round. Times
    count choices; what a rule does before it has an index, such as the initialisation of `CorrelatedUCL`, is left out.
    With `cooling` the temperature of choice t is temperature / log t.

    Each parameter is a number, "free" (one for each person) or "shared" (one for all). By default prior mean, length
    and temperature are free; so is the exploration without a rule, while prior_sd is 1, its unit; with one exploration
    is 1, and prior_sd free. The noise is 0.1 prior deviations; there are no stickiness, distance or lapses.
    Exploration and prior_sd are not both free: the choices depend on their product alone. An exploration of either
    sign is fitted as it is; one that must be above 0, by its logarithm, is exploration=1.0, prior_sd="free".

    >>> from corrbandits import SquaredExponential
    >>> Model(kernel=SquaredExponential(1.0), prior_mean=50.0, noise="free").free
    ('length', 'noise', 'exploration', 'temperature')
    >>> Model(kernel=SquaredExponential(1.0), prior_mean=50.0, exploration=1.0, prior_sd="free").free
    ('prior_sd', 'length', 'temperature')
    """

    kernel: Kernel | None = None
    rule: Rule | None = None
    prior: Prior = Steady()  # noqa: RUF009  frozen
    cooling: bool = False
    prior_mean: Setting = None
    prior_sd: Setting = None
    length: Setting = None
    noise: Setting = None
    exploration: Setting = None
    temperature: Setting = "free"
    stickiness: Setting = 0.0
    distance: Setting = 0.0
    lapse: Setting = 0.0

    def __post_init__(self) -> None:
        if self.kernel is not None and not isinstance(self.kernel, Kernel):
            raise TypeError(f"kernel must be a kernel such as SquaredExponential(1.0), got {self.kernel!r:.60}.")
        if not isinstance(self.prior, Prior):
            raise TypeError(f"prior must be one such as Steady() or ToldNothing(), got {self.prior!r:.60}.")
        checks.flag("cooling", self.cooling)
        self.rule_of(ANY)
        for name, setting in self._settings().items():
            fixed = isinstance(setting, (int, float, np.number)) and not isinstance(setting, bool)
            absent = setting is None and name in Prior.uses
            if not (fixed or absent or setting in ("free", "shared")):
                raise TypeError(f'{name} must be a number, "free" or "shared", got {setting!r:.60}.')
            checks.set_field(self, name, PARAMETERS[name].check(name, setting) if fixed else setting)
        self._refuse_what_cannot_be_told()

    def _settings(self) -> dict[str, Any]:
        """Return every parameter's setting, the defaults filled in; None for what the model does not have."""
        given = {field.name: getattr(self, field.name) for field in fields(self) if field.name in PARAMETERS}
        greedy = isinstance(self.rule, Greedy)
        weight = given["exploration"]
        if weight is None:
            weight = "free" if self.rule is None else 0.0 if greedy else 1.0
        own = weight not in ("free", "shared", 0.0)
        usual = {"exploration": weight, "prior_mean": "free", "prior_sd": "free" if own else 1.0, "noise": 0.1}
        uses = set(self.prior.uses) - ({"length"} if self.kernel is None else set())
        for name in (*usual, "length"):
            if given[name] is None and (name in uses or name == "exploration"):
                given[name] = usual.get(name, "free")
            elif given[name] is not None and name != "exploration" and name not in uses:
                raise ValueError(
                    f"{name} is nothing that this model depends on, got {given[name]!r}. Leave it out, or take another "
                    f"prior{' and a kernel' if name == 'length' else ''}."
                )
        return given

    def _refuse_what_cannot_be_told(self) -> None:
        fitted = set(self.free) | set(self.shared)
        if {"exploration", "prior_sd"} <= fitted:
            raise ValueError(
                "exploration and prior_sd cannot both be fitted: choices depend on their product alone. Fix prior_sd, "
                "say at 1; then exploration is in its unit."
            )
        if "exploration" in fitted and isinstance(self.rule, Greedy):
            raise ValueError("exploration of Greedy cannot be fitted: its index has no bonus. Take rule=None.")
        if "prior_sd" in fitted and self.exploration == 0:
            raise ValueError("prior_sd cannot be fitted where exploration is 0: nothing depends on it. Fix it at 1.")

    @property
    def free(self) -> tuple[str, ...]:
        """The parameters that are fitted to each person."""
        return tuple(name for name in PARAMETERS if getattr(self, name) == "free")

    @property
    def shared(self) -> tuple[str, ...]:
        """The parameters that are fitted to all people together."""
        return tuple(name for name in PARAMETERS if getattr(self, name) == "shared")

    @property
    def fixed(self) -> dict[str, float]:
        """The values of the parameters that are not fitted."""
        return {name: value for name in PARAMETERS if isinstance(value := getattr(self, name), float)}

    @property
    def compiled(self) -> bool:
        """Whether its likelihood is computed in compiled loops; if not, the belief is asked trial by trial."""
        rule = self.rule_of(ANY)
        plain = type(rule).index in (LimitPolicy.index, CrediblePolicy.index) if rule is not None else True
        return isinstance(self.prior, Steady) and (plain or isinstance(rule, CorrelatedUCL))

    @property
    def has_factor(self) -> bool:
        """Whether its bonus has the factor of the printed index, sqrt(sum_j rho_ij^2)."""
        rule = self.rule_of(ANY)
        return isinstance(rule, CorrelatedUCL) and rule.factor and self.kernel is not None

    def rule_of(self, horizon: int) -> IndexPolicy | None:
        """Return the rule in a round of so many choices; None if its bonus is the standard deviation.

        >>> from corrbandits import HorizonUCL
        >>> Model(rule=HorizonUCL).rule_of(20)
        HorizonUCL(horizon=20)
        """
        rule = self.rule(horizon) if callable(self.rule) else self.rule
        if rule is not None and not isinstance(rule, IndexPolicy):
            raise TypeError(f"rule must be a rule with an index, such as UCL(), or make one, got {rule!r:.60}.")
        return rule

    def widths(self, horizon: int, arms: int) -> Array:
        """Return how many deviations the bonus is at each choice of a round."""
        times, rule = np.arange(1, horizon + 1), self.rule_of(horizon)
        return np.ones(horizon) if rule is None else np.asarray(rule.schedule(times, arms), dtype=np.float64)

    def fixing(self, values: Mapping[str, Setting]) -> Model:
        """Return the model with these parameters fixed at these values.

        >>> Model(prior_mean=0.0, exploration=1.0).fixing({"prior_sd": 1.0, "temperature": 2.0}).free
        ()
        """
        changed: dict[str, Any] = {**values}
        return replace(self, **changed)

    def complete(self, values: Mapping[str, float] | None = None) -> dict[str, float]:
        """Return the values of all parameters: those fixed, and those given for the others; refuse others."""
        given = dict(values or {})
        wanted = {*self.free, *self.shared}
        if missing := sorted(wanted - given.keys()):
            raise ValueError(f"values must say what {', '.join(missing)} {'is' if len(missing) == 1 else 'are'}.")
        if unknown := sorted(given.keys() - wanted - self.fixed.keys()):
            raise ValueError(f"this model has no {unknown[0]}. Its parameters are {', '.join((*self.fixed, *wanted))}.")
        return {
            name: PARAMETERS[name].check(name, given[name]) if name in wanted else self.fixed[name]
            for name in PARAMETERS
            if name in wanted or name in self.fixed
        }
