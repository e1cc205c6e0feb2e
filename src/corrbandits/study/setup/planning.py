"""The prior of a study of the arms in a file, and what to tell its user of it.

What is not said is learnt: `Vague` is the prior unless all is said that `Correlated` or `Independent` need. A number
is taken for known, a range for what lies in between with probability 0.9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._shell.numbers import counted
from corrbandits.belief import Belief, Beta, Correlated, Implicit, Independent, Vague
from corrbandits.belief.vague.drift import Drift
from corrbandits.belief.vague.known import Said
from corrbandits.environments.landscapes import MOST_DENSE
from corrbandits.kernels import KERNELS, Kernel, Scaled, WithDeviations
from corrbandits.policies import CorrelatedUCL, Policy, recommend
from corrbandits.study.relation import length_in_words
from corrbandits.study.setup.rules import DISTANCES, kernel_called, known_name, not_on_the_globe
from corrbandits.study.setup.sheet import Sheet

UNRELATED = "none"
"""The kernel of arms that say nothing of each other, wherever they lie."""

_SHORTER = " To begin sooner: `policy` UCL, or `set` nu=0.1."


@final
@dataclass(frozen=True)
class Plan:
    """A prior, a policy, and remarks on what was chosen because it was not given."""

    prior: Belief
    policy: Policy
    remarks: tuple[str, ...]


def plan(
    sheet: Sheet,
    policy: Policy | None = None,
    *,
    rounds: int | None = None,
    noise_sd: Said = None,
    kernel: str | None = None,
    lengths: Sequence[Said] = (),
    per_axis: bool = False,
    distance: str | None = None,
    alpha: float | None = None,
    prior_mean: Said = None,
    prior_sd: Said = None,
    history: Any = None,
    drift: Drift = None,
) -> Plan:
    """Return the prior of a study of these arms whose rewards have Gaussian noise, the rule, and remarks.

    `rounds` is how many rewards there will be in all, `per_axis` whether each axis has a length of its own, as it has
    if there are several. `history` are earlier seasons, and `drift` the days in which rewards change, as `cb.Vague`
    takes them. Without a policy the recommended one is taken.
    """
    mean = _one("mean", sheet.prior_mean, prior_mean)
    sd = _one("sd", sheet.prior_sd, prior_sd)
    for name, value in (("noise_sd", noise_sd), ("prior_sd", prior_sd)):
        if value is not None and np.min(value) <= 0:
            raise ValueError(f"`{name}` must be above 0, got {np.min(value):g}.")
    related = kernel != UNRELATED and bool(sheet.axes)
    of_places = distance or alpha or (kernel != UNRELATED and kernel)
    _refuse_of_places(sheet, lengths, of_places, related=related, per_axis=per_axis)
    exact = _exact(noise_sd, mean, sd, lengths)
    if exact is not None and history is None and drift is None and (not related or (kernel is not None and lengths)):
        made = kernel_called(kernel, exact.lengths, distance, alpha, sheet.axes) if related and kernel else None
        prior = _prior(sheet, made, mean, sd, exact.noise_sd**2)
    else:
        _refuse_in_part(sheet, alpha, {"noise_sd": noise_sd, "prior_mean": mean, "prior_sd": sd})
        told = {"mean": mean, "sd": sd, "noise_sd": noise_sd, "history": history, "drift": drift}
        each = per_axis or len(lengths) > 1
        prior = (
            _vague(sheet, kernel, lengths, distance, told, each=each) if related else Vague(arms=sheet.count, **told)
        )
    rule, reasons = (policy, []) if policy is not None else _recommended(prior, rounds)
    return Plan(
        prior,
        rule,
        (
            *sheet.remarks,
            *(length_in_words(prior, sheet.places) if lengths else []),
            *reasons,
            *_beginning(prior, rule),
            *_too_short(prior, rounds),
        ),
    )


def _refuse_of_places(sheet: Sheet, lengths: Sequence[Said], more: Any, *, related: bool, per_axis: bool) -> None:
    """Refuse what is said of arms by where they lie, if they lie nowhere, and lengths that are not one per axis."""
    if not related and (lengths or more or per_axis):
        raise ValueError(
            "`kernel`, `length`, `per_axis`, `distance` and `alpha` say how arms relate by where they lie, but the "
            "file has no columns for that, or `kernel` is none. Leave them out, or add columns x and y."
        )
    if per_axis and lengths and len(lengths) != len(sheet.axes):
        raise ValueError(
            f"with `per_axis`, `length` must be given once for each of {', '.join(sheet.axes)}, got {len(lengths)}. "
            "Give one for each; or leave them out, and they are learnt."
        )


class _Exact(NamedTuple):
    """What a prior that learns nothing besides the mean rewards needs, as numbers."""

    noise_sd: float
    lengths: list[float]


def _exact(noise_sd: Said, mean: Any, sd: Any, lengths: Sequence[Said]) -> _Exact | None:
    """Return noise and lengths if these, the mean and the sd are all known; nothing if one is a range or left out."""
    numbers = [length for length in lengths if isinstance(length, float)]
    if not isinstance(noise_sd, float) or mean is None or sd is None or len(numbers) < len(lengths):
        return None
    return None if isinstance(mean, tuple) or isinstance(sd, tuple) else _Exact(noise_sd, numbers)


def _refuse_in_part(sheet: Sheet, alpha: float | None, told: dict[str, Any]) -> None:
    """Refuse what only a prior can take that is known altogether: columns, alpha."""
    columns = {"column prior_mean": sheet.prior_mean, "column prior_sd": sheet.prior_sd}
    needed = [name for name, column in columns.items() if column is not None]
    needed += ["`alpha`"] * (alpha is not None)
    if needed:
        missing = [f"`{name}`" for name, value in told.items() if value is None] or ["`kernel` and `length`, no range"]
        raise ValueError(
            f"with {' and '.join(needed)} all must be known, as numbers: add {' and '.join(missing)}. Or leave "
            "that out, and it is learnt."
        )


def _vague(
    sheet: Sheet,
    kernel: str | None,
    lengths: Sequence[Said],
    distance: str | None,
    said: dict[str, Any],
    *,
    each: bool,
) -> Vague:
    """Return the prior that learns what was not said; `each` if each axis has a length of its own."""
    told = dict(said)
    if kernel is not None:
        told["kernel"] = known_name("`kernel`", kernel, (*KERNELS, UNRELATED))
    far = "great_circle" if distance is None and "latitude" in sheet.axes else distance or "euclidean"
    where: Any = known_name("`distance`", far, DISTANCES)
    if where in ("great_circle", "chordal") and "latitude" not in sheet.axes:
        raise not_on_the_globe(where, sheet.axes)
    length = (list(lengths) if each else lengths[0]) if lengths else None
    return Vague(coordinates=sheet.places, length=length, distance=where, per_coordinate=each, **told)


def _recommended(prior: Belief, rounds: int | None) -> tuple[Policy, list[str]]:
    found = recommend(prior, rounds)
    more = " Give `rounds`, how many rewards there will be in all, if you know." if rounds is None else ""
    return found.policy, [f"The rule was chosen: {found.reason}.{more}"]


def plan_of_zeros_and_ones(
    sheet: Sheet,
    policy: Policy | None = None,
    *,
    rounds: int | None = None,
    successes: float | None = None,
    failures: float | None = None,
) -> Plan:
    """Return the Beta prior of a study of these arms, whose rewards are 0 or 1, with remarks.

    So many successes and failures, above 0, are taken for seen beforehand: without them 1 and 1, which favours nothing.
    """
    if sheet.prior_mean is not None or sheet.prior_sd is not None:
        raise ValueError(
            "columns prior_mean and prior_sd are for rewards with Gaussian noise, but these are 0 or 1. Put columns "
            "prior_successes and prior_failures in their place."
        )
    counts = {"successes": (sheet.prior_successes, successes), "failures": (sheet.prior_failures, failures)}
    known = {name: _one(name, *both, option=name) for name, both in counts.items()}
    for name, count in known.items():
        if count is not None and not np.all(np.asarray(count) > 0):
            raise ValueError(f"`{name}` must be above 0, got {np.min(count):g}. 1 and 1 favour nothing.")
    prior = Beta(**{name: 1.0 if count is None else count for name, count in known.items()}, arms=sheet.count)
    rule, reasons = (policy, []) if policy is not None else _recommended(prior, rounds)
    return Plan(prior, rule, (*sheet.remarks, *reasons, *_beginning(prior, rule)))


def more_arms(sheet: Sheet, prior: Belief, prior_mean: float | None, prior_sd: float | None) -> dict[str, Any]:
    """Return the arguments of `Study.add_arms` for the arms of a file."""
    mean, sd = _one("mean", sheet.prior_mean, prior_mean), _one("sd", sheet.prior_sd, prior_sd)
    given: dict[str, Any] = {} if mean is None else {"mean": mean}
    kernel = prior.prior_arguments().get("kernel")
    own = isinstance(kernel, Kernel) and kernel.has_deviations
    if own and sd is None:
        raise ValueError("the study's arms have prior sds of their own, so new ones need theirs: add prior_sd.")
    if not own and sd is not None:
        raise ValueError("all arms of the study have the same prior sd, got another. Leave prior_sd out.")
    if own and sheet.places is not None:
        given["coordinates"] = _with_deviations(sheet.places, np.broadcast_to(np.asarray(sd), sheet.count))
    return given


def _beginning(prior: Belief, policy: Policy) -> list[str]:
    """Return a remark if the policy tries arms before it prefers good ones."""
    if isinstance(prior, Vague):
        if prior.opening and prior.parts.ranked:
            return ["The first trials are of the arms that did best in earlier seasons."]
        which = "arms far from each other" if prior.coordinates is not None else "arms not tried yet, in their order"
        return [f"The first trials are of {which}, until there is a scale to compare with."] * prior.opening
    pending = int(np.count_nonzero(policy.pending(prior)))
    if not pending:
        return []
    shorter = _SHORTER if isinstance(policy, CorrelatedUCL) else ""
    return [
        f"The rule begins by trying arms of which too little is known, now {pending:,} of {prior.arms:,}, before it "
        f"prefers good ones.{shorter}"
    ]


def _too_short(prior: Belief, rounds: int | None) -> list[str]:
    """Return a warning if there are no more rewards in all than it takes to compare arms."""
    if rounds is None or not isinstance(prior, Vague) or prior.parts.ranked or rounds > prior.still_needed:
        return []
    return [
        f"WARNING: it takes {counted(prior.still_needed, 'reward')} to compare arms at all: in "
        f"{counted(rounds, 'round')} nothing is gained by them. Give more, or state what you know."
    ]


def _one(what: str, column: Array | None, given: Said, option: str = "") -> Any:
    option = option or f"prior_{what}"
    if column is not None and given is not None:
        raise ValueError(
            f"the prior {what} must be given once, got both a column prior_{what} and `{option}`. Drop one."
        )
    return given if column is None else column


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
