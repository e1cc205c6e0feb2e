"""Models by name, and what is said of their parameters on a command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from corrbandits._shell.numbers import NUMBER, number
from corrbandits._shell.texts import near
from corrbandits.choices import PARAMETERS, Model
from corrbandits.choices.model import Setting
from corrbandits.kernels import KERNELS, SquaredExponential, Stationary
from corrbandits.policies import UCL, CorrelatedUCL, HorizonUCL


class Named(NamedTuple):
    """A model, and what it says of people."""

    model: Model
    words: str


_KERNEL = SquaredExponential(1.0)

MODELS = {
    "correlated": Named(Model(kernel=_KERNEL), "one arm tells of those near it; the mean and a bonus for the unknown"),
    "independent": Named(Model(), "each arm tells of itself alone; the mean and a bonus for the unknown"),
    "greedy": Named(Model(kernel=_KERNEL, exploration=0.0), "correlated, and no bonus for the unknown"),
    "UCL": Named(Model(rule=UCL()), "the paper's rule: each arm alone, a credible limit that grows"),
    "CorrelatedUCL": Named(
        Model(kernel=_KERNEL, rule=CorrelatedUCL()), "the paper's rule, with the factor that is printed"
    ),
    "CorrelatedUCL-plain": Named(
        Model(kernel=_KERNEL, rule=CorrelatedUCL(factor=False)), "the paper's rule without that factor"
    ),
    "HorizonUCL": Named(Model(kernel=_KERNEL, rule=HorizonUCL), "a limit that falls as fewer choices are left"),
}
"""The models that have names."""

USUAL = ("correlated", "independent", "greedy")
"""Those that are fitted if none is named; without `greedy` and `correlated` where nobody knows where arms lie."""


def named(names: Sequence[str], kernel: str = "squared_exponential", settings: Sequence[str] = ()) -> dict[str, Model]:
    """Return models by name, with this kernel, and parameters set by texts such as noise=0.01 or UCL.lapse=free.

    >>> models = named(["correlated", "independent"], settings=["prior_mean=50", "independent.noise=free"])
    >>> models["correlated"].free, models["independent"].free
    (('length', 'exploration', 'temperature'), ('noise', 'exploration', 'temperature'))
    """
    for name in names:
        _refuse_unknown("a model", name, MODELS)
    _refuse_unknown("--kernel", kernel, KERNELS)
    said = _settings(settings, names)
    return {name: _made(MODELS[name].model, KERNELS[kernel], said[name]) for name in dict.fromkeys(names)}


def described(name: str, model: Model) -> str:
    """Return what a named model says of people, and what of it is fitted and fixed.

    >>> described("greedy", named(["greedy"], settings=["noise=0.2"])["greedy"]).split("; ")[1:]
    ['kernel squared_exponential', 'fitted prior_mean, length, temperature', 'fixed prior_sd 1, noise 0.2']
    """
    kernel = "".join(f"; kernel {word}" for word, kind in KERNELS.items() if kind is type(model.kernel))
    fixed = ", ".join(f"{each} {number(value)}" for each, value in model.fixed.items() if value)
    return f"{MODELS[name].words}{kernel}; fitted {', '.join(model.free) or 'nothing'}; fixed {fixed or 'nothing'}"


def usual(coordinates: bool) -> tuple[str, ...]:
    """Return the names of the models to fit if none is named.

    >>> usual(coordinates=False)
    ('independent', 'UCL')
    """
    return USUAL if coordinates else ("independent", "UCL")


def _made(model: Model, kind: type[Stationary], settings: Mapping[str, Setting]) -> Model:
    kernel = None if model.kernel is None else kind(1.0)
    return replace(model, kernel=kernel).fixing(settings)


def _settings(texts: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, Setting]]:
    """Return what is set, by model; what names no model is set in all that have the parameter."""
    found: dict[str, dict[str, Setting]] = {name: {} for name in names}
    for text in texts:
        left, equals, value = text.partition("=")
        whose, _, parameter = left.strip().rpartition(".")
        if not equals:
            raise ValueError(f"--set must say what a parameter is, as in noise=0.01 or length=free, got {text!r:.60}.")
        _refuse_unknown("--set", parameter, PARAMETERS)
        if whose:
            _refuse_unknown("--set", whose, found)
        for name in [whose] if whose else names:
            if whose or _has(MODELS[name].model, parameter):
                found[name][parameter] = _value(value.strip(), text)
    return found


def _has(model: Model, parameter: str) -> bool:
    return parameter != "length" or model.kernel is not None


def _value(text: str, whole: str) -> Setting:
    if text == "free":
        return "free"
    if not NUMBER.fullmatch(text):
        raise ValueError(f'--set must give a number or "free", got {whole!r:.60}. What people share, Python can fit.')
    return float(text)


def _refuse_unknown(what: str, name: str, known: Mapping[str, object]) -> None:
    if name not in known:
        meant = "".join(f" Did you mean {one!r}?" for one in near(name, known))
        raise ValueError(f"{what} must be of {', '.join(known)}, got {name!r:.60}.{meant}")
