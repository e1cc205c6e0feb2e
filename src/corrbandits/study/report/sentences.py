"""A study's prior, its noise and its times in words."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np

from corrbandits._core.checks import Array, fields_of
from corrbandits._shell.numbers import counted, number
from corrbandits.belief import Belief, Learnt
from corrbandits.belief.base import span
from corrbandits.belief.contradiction import FACTORS, Contradiction
from corrbandits.belief.vague.learnt import Interval
from corrbandits.policies import Gittins, HorizonUCL, Policy
from corrbandits.study.measured import moment_in_words
from corrbandits.study.report.inference import NoiseCheck
from corrbandits.study.report.surprises import Surprise

STATED = {"mean": "mean", "sd": "sd", "length": "length", "noise_sd": "noise"}
"""What may be stated of rewards, in a word that `study copy --learn` knows too."""

MILLION = math.log(1e6)

UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def prior_in_words(prior: Belief) -> str:
    """Return what was believed at first; a time is in days.

    >>> from corrbandits import Vague
    >>> prior_in_words(Vague(arms=3, drift=1.5))
    'told that rewards change within 1.5 days; the rest is learnt'
    """
    return prior.in_words("days") if prior.changes and prior.in_real_time else prior.in_words()


def policy_in_words(policy: Policy) -> str:
    """Return a rule and its parameters.

    >>> from corrbandits import CorrelatedUCL
    >>> policy_in_words(CorrelatedUCL(a=3.3))
    'CorrelatedUCL(K=4.13273, a=3.3, nu=1, factor=True)'
    """
    values = ", ".join(f"{name}={_value(value)}" for name, value in fields_of(policy).items())
    return f"{type(policy).__name__}({values})"


def decision_in_words(policy: Policy, t: int, study: str) -> str:
    """Return which decision is the next, of how many if the rule knows that, and what happens past the last.

    >>> from corrbandits import Gittins
    >>> decision_in_words(Gittins(40), 12, "meadow"), decision_in_words(Gittins(), 12, "meadow")
    ('the next decision is t = 12 of 40', 'the next decision is t = 12')
    >>> print(decision_in_words(Gittins(40), 42, "meadow"))
    the next decision is t = 42, past the 40 rounds: each is taken as if it were the last, for the best mean.
    To explore on: corrbandits study copy meadow NEW --rounds ROUNDS
    """
    horizon = getattr(policy, "horizon", None)
    if horizon is None or t <= horizon:
        return f"the next decision is t = {t:,}" + ("" if horizon is None else f" of {horizon:,}")
    what = (
        ": each is taken as if it were the last, for the best mean. To explore on"
        if isinstance(policy, (Gittins, HorizonUCL))
        else ". For more rounds"
    )
    more = f"corrbandits study copy {shlex.quote(study)} NEW --rounds ROUNDS"
    return f"the next decision is t = {t:,}, past the {counted(horizon, 'round')}{what}: {more}"


def noise_in_words(check: NoiseCheck, noise_variance: Array, name: str) -> str:
    """Return what contradicts the stated noise, what that does, and what to do."""
    stated, factor = np.sqrt(noise_variance), math.sqrt(check.ratio)
    even = float(np.ptp(stated)) == 0
    seen = f"by {number(factor * stated[0])}" if even else f"{number(factor)} times as much as stated"
    said = f"{number(stated[0])} was stated" if even else f"{span(stated)} was stated"
    more = check.ratio > 1
    effect = (
        "so each reward is trusted too much, and deviations and probabilities here are too small"
        if more
        else "so rewards are trusted too little, and more of them are asked for than needed"
    )
    cause = "a mistyped reward (see history; amend or retract it)" if more else "rewards told twice, or rounded"
    new = f"--noise-sd {f'{factor * stated[0]:.2g}' if even else '...'}" if factor else "--learn noise"
    odds = number(1 / check.p, 1) if check.p > 1e-6 else "over a million"
    return (
        f"WARNING: rewards of the same arm vary {seen}, but {said} (chi-square {number(check.chi_square)} with "
        f"{counted(check.degrees, 'degree')} of freedom, by chance at most once in {odds}), {effect}. "
        f"Look for {cause}. If they are all right, go on with a copy that has another noise: "
        f"corrbandits study copy {shlex.quote(name)} NEW {new}."
    )


def contradictions_in_words(found: Sequence[Contradiction], name: str) -> str:
    """Return what is contradicted of what was stated, how strongly, and what to do.

    >>> print(contradictions_in_words([Contradiction("length", 20.0, 6.2, 0.2)], "meadow").partition(". ")[0])
    WARNING: the rewards contradict the stated length, 20: they are 490 times as likely under others, most near 4
    """
    worst, *others = found
    what = STATED[worst.name]
    stated = "" if worst.stated is None else f", {_said(worst.stated)}"
    times = f"{number(math.exp(worst.log_times), 2)} times" if worst.log_times < MILLION else "over a million times"
    likely = _likely(worst)
    more = ""
    if others:
        names = " and ".join(STATED[one.name] for one in others)
        more = f" The same rewards speak against the stated {names}; the copy says if they still do."
    study = f"-- {shlex.quote(name)}" if name.startswith("-") else shlex.quote(name)
    return (
        f"WARNING: the rewards contradict the stated {what}{stated}: they are {times} as likely under others, "
        f"{likely}. So the deviations, probabilities and costs said here cannot be relied on. Look for a mistyped "
        f"reward (see history). If there is none, go on with a copy that learns the {what}: "
        f"corrbandits study copy --learn {what} {study} NEW.{more}"
    )


def _said(stated: float | tuple[float, float]) -> str:
    return f"{stated[0]:g} to {stated[1]:g}" if isinstance(stated, tuple) else number(stated, 4)


def _likely(found: Contradiction) -> str:
    """Return where the likeliest values lie, as far as any were tried."""
    if found.name == "mean":
        if isinstance(found.stated, float):
            return f"most near {number(found.stated + found.likely, 3)}"
        return f"most where it is {number(abs(found.likely), 2)} {'higher' if found.likely > 0 else 'lower'}"
    beyond = {FACTORS[0]: " or less", FACTORS[-1]: " or more"}.get(found.likely, "")
    if isinstance(found.stated, float):
        return f"most near {number(found.stated * found.likely, 2)}{beyond}"
    return f"most where it is {number(found.likely, 2)} times as large{beyond}"


def learnt_in_words(learnt: Learnt) -> str:
    """Return what was learnt, with 90 % intervals, and what was stated.

    >>> from corrbandits import Vague
    >>> arms = np.tile(np.arange(30), 3)
    >>> rewards = np.sin(arms / 5) + 0.3 * np.random.default_rng(2).standard_normal(90)
    >>> print(learnt_in_words(Vague(coordinates=range(30)).observe(arms, rewards).learnt()).replace(";", ","))
    neighbours correlate 0.99 (0.94 to 1), arms differ by ± 1.3 (1.1 to 1.7), noise ± 0.29 (0.26 to 0.33),
    length 12 (6.6 to 21), share of single arms 0 (0 to 0.29)
    """
    said = []
    if learnt.neighbours is not None:
        said.append(f"neighbours correlate {_between(learnt.neighbours)}")
    said.append(f"arms differ by ± {_between(learnt.sd)}")
    said.append(f"noise ± {_between(learnt.noise_sd)}")
    if learnt.length is not None and learnt.site is not None:
        lengths = learnt.length if isinstance(learnt.length, tuple) else (learnt.length,)
        said.append(f"length {' x '.join(_between(one) for one in lengths)}")
        said.append(f"share of single arms {_between(learnt.site)}")
    if learnt.seasons is not None:
        said.append(f"seasons correlate {_between(learnt.seasons)}")
    if learnt.drift is not None:
        said.append(change_in_words(learnt.drift))
    repeat = "" if learnt.repeated else ". Repeat an arm: noise and what is each arm's own look alike until then"
    return "; ".join(said) + repeat


def change_in_words(drift: Interval, unit: str = "days") -> str:
    """Return within what time rewards change, by default in days.

    >>> change_in_words(Interval(41.0, 19.0, 88.0)), change_in_words(Interval(math.inf, 250.0, math.inf))
    ('rewards change within about 41 (19 to 88) days', 'no change seen yet (if any, within 250 days or more)')
    """
    if drift.stated:
        return f"rewards change within {number(drift.median, 4)} {unit} (stated)"
    if math.isinf(drift.median):
        return f"no change seen yet (if any, within {number(drift.low, 2)} {unit} or more)"
    if math.isinf(drift.high):
        return (
            f"rewards change within about {number(drift.median, 2)} {unit} ({number(drift.low, 2)} or more, or never)"
        )
    return f"rewards change within about {_between(drift)} {unit}"


def _between(interval: Interval) -> str:
    """Return an interval in as many digits as tell its ends apart, or that there is none.

    >>> _between(Interval(0.3, 0.2967, 0.3041)), _between(Interval(12.5, 12.5, 12.5, stated=True))
    ('0.3 (0.297 to 0.304)', '12.5 (stated)')
    """
    if interval.low == interval.high:
        return f"{number(interval.median, 4)} ({'stated' if interval.stated else 'no other was considered'})"
    digits = next((d for d in range(2, 7) if number(interval.low, d) != number(interval.high, d)), 7)
    low, median, high = (number(x, digits) for x in (interval.low, interval.median, interval.high))
    return f"{median} ({low} to {high})"


def surprise_in_words(found: Surprise) -> str:
    """Return what is surprising in an arm's rewards, or in one of them."""
    what = f"{number(found.average, 6)} at {found.name} is"
    if found.rewards > 1:
        what = f"the rewards of {found.name} average {number(found.average, 6)},"
    return (
        f"WARNING: {what} {number(abs(found.z), 2)} standard deviations from what all else says "
        f"({number(found.expected, 4)} ± {number(found.deviation, 2)})."
    )


def amend_in_words(found: Surprise, study: str, where: str = "") -> str:
    """Return which reward may be wrong, in which line of a file if that is known, and how to put it right."""
    if found.reward == found.average:
        said = f"trial {found.trial}{where}"
    else:
        said = f"trial {found.trial}{where}, {number(found.reward, 6)}"
    name = _in_shell(study)
    amend = f"Perhaps it was mistyped in {said}. If it is wrong: corrbandits study amend {name} {found.trial} REWARD"
    if found.rewards == 1:
        return amend
    return f"{amend}. If they are all right, see whether what was stated still stands: corrbandits study show {name}"


def future_in_words(trial: int, measured: float, study: str) -> str:
    """Return that a reward was measured in the future, what that does, and how to put it right.

    >>> future_in_words(7, 1e11, "moor").split(": ")[-1]
    'corrbandits study retract moor 7'
    """
    return (
        f"Trial {trial} is said to be measured on {moment_in_words(measured, now=0.0)}, which is to come: a clock was "
        "wrong. Beside it all other rewards count as old. Take it back, and observe it anew: corrbandits study retract "
        f"{_in_shell(study)} {trial}"
    )


def _in_shell(study: str) -> str:
    return f"-- {shlex.quote(study)}" if study.startswith("-") else shlex.quote(study)


def time_in_words(seconds: float) -> str:
    """Return a stretch of time.

    >>> time_in_words(20.0), time_in_words(5400.0), time_in_words(864000.0)
    ('20 s', '1.5 h', '1.4 w')
    """
    unit = next((name for name, size in reversed(UNITS.items()) if seconds >= size), "s")
    return f"{number(max(seconds, 0.0) / UNITS[unit], 2)} {unit}"


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)
