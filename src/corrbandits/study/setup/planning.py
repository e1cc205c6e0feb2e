"""From a CSV of arms and the options of a command line to the prior and the policy of a study.

    column                       meaning
    name                         what an arm is called; needed
    x, y | x | latitude,         where it lies; needed with a kernel
    longitude
    prior_mean, prior_sd         what is thought of its mean reward beforehand: this, give or take that
    any other                    an attribute, kept with the arm: a number if all its entries are, otherwise text

What is not said is chosen here, and `Plan.remarks` says how:

- without a prior sd and with a kernel, 10 times the noise sd: wide enough that the rewards, not the prior, decide,
  and that every arm which its neighbours do not explain is tried. Without a kernel, infinite: nothing is known.
- without a prior mean, 0.
- on latitude and longitude, distances along the earth in km: great circle, or chordal where a kernel needs it.
- `UCL`, the plain index on whatever the prior is: `CorrelatedUCL` begins by trying every arm whose prior sd is above
  the noise sd, which of many arms is a campaign of its own.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._shell.csv import NUMBER, Column, numeric_column, places, read_columns
from corrbandits.belief import Belief, Correlated, Implicit, Independent
from corrbandits.environments.landscapes import MOST_DENSE
from corrbandits.kernels import KERNELS, Kernel, Scaled, WithDeviations
from corrbandits.policies import RULES, UCL, CorrelatedUCL, Policy
from corrbandits.study.arms import AXES, checked_name
from corrbandits.study.report.sentences import UNITS

WIDE = 10.0
"""The prior sd in noise sds, where none is given."""

PRIOR = ("prior_mean", "prior_sd")
_CODE = re.compile(r"\+|[+-]?0\d", re.ASCII)  # 007 is no number, but a name


_SHORTER = " To begin sooner: --policy UCL, or --set nu=0.1."


@final
@dataclass(frozen=True)
class Sheet:
    """The arms of a CSV file: their columns for `Study.create`, and what it says of the prior."""

    arms: dict[str, Any]
    count: int
    axes: tuple[str, ...]
    places: Array | None
    prior_mean: Array | None
    prior_sd: Array | None


@final
@dataclass(frozen=True)
class Plan:
    """A prior, a policy, and what was chosen because nothing was said of it."""

    prior: Belief
    policy: Policy
    remarks: tuple[str, ...]


def read_sheet(path: str | os.PathLike[str]) -> Sheet:
    """Return the arms of a CSV file; what is wrong in it is said with its line."""
    columns = read_columns(path)
    names = _names(columns, path)
    where = places(columns, path)
    axes: tuple[str, ...] = next((axes for axes in AXES if set(axes) <= set(columns)), ())
    mean, sd = (numeric_column(columns, name, path) if name in columns else None for name in PRIOR)
    if sd is not None and (sd < 0).any():
        line, text = columns["prior_sd"][int(sd.argmin())]
        raise ValueError(f"{path}, line {line}: column 'prior_sd' must be at least 0, got {text!r:.60}. Mend it.")
    arms: dict[str, Any] = {"name": names}
    if where is not None:
        arms |= dict(zip(axes, where.T, strict=True))
    others = [name for name in columns if name not in ("name", *axes, *PRIOR)]
    return Sheet(arms | {name: _attribute(columns[name]) for name in others}, len(names), axes, where, mean, sd)


def plan(
    sheet: Sheet,
    *,
    noise_sd: float,
    kernel: Kernel | None = None,
    prior_mean: float | None = None,
    prior_sd: float | None = None,
    policy: str | None = None,
    parameters: Mapping[str, str] | None = None,
) -> Plan:
    """Return the prior and the policy of a study of these arms; `kernel` is a correlation, not scaled."""
    noise = checks.number("--noise-sd", noise_sd, above=0)
    remarks = []
    mean = _one("mean", sheet.prior_mean, prior_mean)
    sd = _one("sd", sheet.prior_sd, prior_sd)
    if prior_sd is not None:
        checks.number("--prior-sd", prior_sd, above=0)
    if sd is None and kernel is not None:
        sd = WIDE * noise
        remarks.append(
            f"No prior sd was given: {sd:g} stands for it, {WIDE:g} times the noise, and the rewards decide. "
            "If you know how much arms differ, give --prior-sd or a column prior_sd: then fewer trials may do."
        )
    if sd is None and mean is not None:
        raise ValueError(
            "a prior mean counts for as much as its sd says, got no prior sd, and no kernel. Give --prior-sd or a "
            "column prior_sd, or leave the prior mean out."
        )
    if mean is None and sd is not None:
        remarks.append("No prior mean was given: 0 stands for it. Give --prior-mean or a column prior_mean.")
    if "latitude" in sheet.axes and getattr(kernel, "distance", "") in ("euclidean", "cityblock"):
        remarks.append("Distances are in degrees, and so is the length. Leave --distance out for km along the earth.")
    prior = _prior(sheet, kernel, 0.0 if mean is None else mean, math.inf if sd is None else sd, noise**2)
    rule = _policy(policy, parameters or {})
    if pending := int(np.count_nonzero(rule.pending(prior))):
        remarks.append(
            f"The rule begins by trying arms of which too little is known, now {pending:,} of {sheet.count:,}, before "
            f"it prefers good ones.{_SHORTER if isinstance(rule, CorrelatedUCL) else ''}"
        )
    return Plan(prior, rule, tuple(remarks))


def kernel_called(
    name: str, lengths: Sequence[float], distance: str | None, alpha: float | None, axes: Sequence[str]
) -> Kernel:
    """Return the kernel of this name for arms that lie on these axes."""
    kind = KERNELS[_known("--kernel", name, KERNELS)]
    if not axes:
        raise ValueError(
            "--kernel needs to know where arms lie, but the file has no columns for it. Add x and y, x, or latitude "
            "and longitude; or leave --kernel out, for arms that say nothing of each other."
        )
    if not lengths:
        raise ValueError("--kernel needs --length, how far arms resemble each other, got none. Add it.")
    options: dict[str, Any] = {} if alpha is None else {"alpha": alpha}
    if alpha is not None and name != "rational_quadratic":
        raise ValueError(f"--alpha is of the kernel rational_quadratic alone, got {name}. Leave it out.")
    if distance is None and "latitude" in axes:
        distance = "great_circle" if name == "exponential" else "chordal"
    if distance is not None:
        options["distance"] = _known("--distance", distance, ("euclidean", "cityblock", "great_circle", "chordal"))
    if options.get("distance") in ("great_circle", "chordal") and "latitude" not in axes:
        raise ValueError(
            f"--distance {distance} needs columns latitude and longitude, but the file has {' and '.join(axes)}. Leave "
            "it out, or rename them."
        )
    return kind(length=lengths[0] if len(lengths) == 1 else tuple(lengths), **options)


def more_arms(sheet: Sheet, prior: Belief, prior_mean: float | None, prior_sd: float | None) -> dict[str, Any]:
    """Return the arguments of `Study.add_arms` for the arms of a file."""
    mean, sd = _one("mean", sheet.prior_mean, prior_mean), _one("sd", sheet.prior_sd, prior_sd)
    given: dict[str, Any] = {} if mean is None else {"mean": mean}
    kernel = prior.prior_arguments().get("kernel")
    own = kernel is not None and kernel.has_deviations
    if own and sd is None:
        raise ValueError("the study's arms have prior sds of their own, so new ones need theirs: add prior_sd.")
    if not own and sd is not None:
        raise ValueError("all arms of the study have the same prior sd, got another. Leave prior_sd out.")
    if own and sheet.places is not None:
        given["coordinates"] = _with_deviations(sheet.places, np.broadcast_to(np.asarray(sd), sheet.count))
    return given


def with_noise(belief: Belief, noise_sd: float) -> Belief:
    """Return the prior of a belief with another noise."""
    given = belief.prior_arguments()
    if "noise_variance" not in given:
        raise ValueError(
            f"--noise-sd is of Gaussian priors, but the study's is {type(belief).__name__}. Copy it from Python, with "
            "prior=."
        )
    kind: Any = type(belief)
    made: Belief = kind(**(given | {"noise_variance": checks.number("--noise-sd", noise_sd, above=0) ** 2}))
    return made


def number(what: str, text: str) -> float:
    """Return the number that a text says, with a point for the decimals."""
    if not NUMBER.fullmatch(text.strip()) or not math.isfinite(float(text)):
        comma = " Decimals take a point, and thousands nothing." if "," in text else ""
        raise ValueError(f"{what} must be a finite number such as -1.5, got {text!r:.60}.{comma}")
    return float(text)


def seconds(text: str) -> float:
    """Return how many seconds a stretch of time has: 90s, 30min, 36h, 14d or 6w.

    >>> seconds("36h"), seconds("0.5d")
    (129600.0, 43200.0)
    """
    found = re.fullmatch(r"([\d.]+) ?(s|min|h|d|w)", text.strip(), re.ASCII)
    if found is None or not NUMBER.fullmatch(found[1]) or float(found[1]) == 0:
        raise ValueError(f"--timeout must be a number above 0 and s, min, h, d or w, such as 36h, got {text!r:.60}.")
    return float(found[1]) * UNITS[found[2]]


def settings(texts: Sequence[str]) -> dict[str, str]:
    """Return the texts a=3.3 as values by name."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or name.strip() in found:
            raise ValueError(f"--set must be name=value, each name once, such as a=3.3, got {text!r:.60}.")
        found[name.strip()] = value.strip()
    return found


def _names(columns: Mapping[str, Column], path: str | os.PathLike[str]) -> list[str]:
    if "name" not in columns:
        raise ValueError(
            f"{path}, line 1: expected a column 'name', but the columns are {', '.join(columns)}. Rename one or add it."
        )
    lines: dict[str, int] = {}
    for line, text in columns["name"]:
        try:
            name = checked_name("a name", text)
        except ValueError as error:
            raise ValueError(f"{path}, line {line}: {error}") from None
        if name in lines:
            raise ValueError(
                f"{path}, line {line}: arms must have different names, but {name!r} is on line {lines[name]} too. "
                "Rename one."
            )
        lines[name] = line
    return list(lines)


def _attribute(column: Column) -> list[Any]:
    """Return numbers, with None where there is no entry, if all entries are numbers; otherwise text."""
    texts = [text.strip() for _, text in column]
    if all(not text or (NUMBER.fullmatch(text) and not _CODE.match(text)) for text in texts) and any(texts):
        return [float(text) if text else None for text in texts]
    return texts


def _one(what: str, column: Array | None, option: float | None) -> Any:
    if column is not None and option is not None:
        raise ValueError(
            f"the prior {what} must be said once, got both a column prior_{what} and --prior-{what}. Drop one."
        )
    return option if column is None else column


def _prior(sheet: Sheet, kernel: Kernel | None, mean: Any, sd: Any, noise: float) -> Belief:
    if kernel is None:
        return Independent(mean=mean, variance=np.square(sd), noise_variance=noise, arms=sheet.count)
    if sheet.places is None:
        raise ValueError("a kernel needs to know where arms lie, but the file does not say.")
    made: Kernel = WithDeviations(kernel) if np.ndim(sd) else Scaled(kernel, sd**2)
    where = _with_deviations(sheet.places, sd) if np.ndim(sd) else sheet.places
    kind = Correlated if sheet.count <= MOST_DENSE else Implicit
    return kind(mean=mean, kernel=made, coordinates=where, noise_variance=noise)


def _with_deviations(where: Array, sd: Any) -> Array:
    return np.column_stack([where, sd])


def _policy(name: str | None, given: Mapping[str, str]) -> Policy:
    kind: Any = UCL if name is None else RULES[_known("--policy", name, RULES)]
    fields = {field.name: field for field in dataclasses.fields(kind)}
    values: dict[str, Any] = {}
    for key, text in given.items():
        if key not in fields:
            known = ", ".join(fields) or "none"
            raise ValueError(f"--set must name a parameter of {kind.__name__} ({known}), got {key!r:.60}.")
        values[key] = _parameter(key, text, str(fields[key].type))
    for field in fields.values():
        if field.default is dataclasses.MISSING and field.name not in values:
            raise ValueError(f"{kind.__name__} needs --set {field.name}=..., but it did not come. Add it.")
    made: Policy = kind(**values)
    return made


def _parameter(name: str, text: str, kind: str) -> bool | int | float:
    if kind == "bool":
        if text.lower() not in ("true", "false"):
            raise ValueError(f"--set {name} must be true or false, got {text!r:.60}.")
        return text.lower() == "true"
    value = number(f"--set {name}", text)
    if kind == "int":
        if value != int(value):
            raise ValueError(f"--set {name} must be a whole number, got {text!r:.60}.")
        return int(value)
    return value


def _known(what: str, name: str, known: Collection[str]) -> str:
    if name in known:
        return name
    by_lower = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1)
    meant = f" Did you mean {by_lower[near[0]]}?" if near else ""
    raise ValueError(f"{what} must be one of {', '.join(known)}, got {name!r:.60}.{meant}")
