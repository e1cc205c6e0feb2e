"""The prior of a study of the arms in a file, and what to tell its user of it.

- without a prior sd and with a kernel, it is 10 times the noise sd: wide enough that the rewards, not the prior,
  decide, and that every arm which its neighbours do not explain is tried. Without a kernel it is infinite.
- without a prior mean, it is 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits.belief import Belief, Beta, Correlated, Implicit, Independent
from corrbandits.environments.landscapes import MOST_DENSE
from corrbandits.kernels import Kernel, Scaled, WithDeviations
from corrbandits.policies import CorrelatedUCL, Policy
from corrbandits.study.setup.sheet import Sheet

WIDE = 10.0
"""The prior sd in noise sds, where none is given."""

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
    policy: Policy,
    *,
    noise_sd: float,
    kernel: Kernel | None = None,
    prior_mean: float | None = None,
    prior_sd: float | None = None,
) -> Plan:
    """Return the Gaussian prior of a study of these arms, with remarks; `kernel` is a correlation, not scaled."""
    noise = checks.number("`noise_sd`", noise_sd, above=0)
    remarks = []
    mean = _one("mean", sheet.prior_mean, prior_mean)
    sd = _one("sd", sheet.prior_sd, prior_sd)
    if prior_sd is not None:
        checks.number("`prior_sd`", prior_sd, above=0)
    if sd is None and kernel is not None:
        sd = WIDE * noise
        remarks.append(
            f"No prior sd was given: {sd:g} stands for it, {WIDE:g} times the noise, and the rewards decide. "
            "If you know how much arms differ, give `prior_sd` or a column prior_sd: then fewer trials may do."
        )
    if sd is None and mean is not None:
        raise ValueError(
            "a prior mean counts for as much as its sd says, got no prior sd, and no kernel. Give `prior_sd` or a "
            "column prior_sd, or leave the prior mean out."
        )
    if mean is None and sd is not None:
        remarks.append("No prior mean was given: 0 stands for it. Give `prior_mean` or a column prior_mean.")
    if "latitude" in sheet.axes and getattr(kernel, "distance", "") in ("euclidean", "cityblock"):
        remarks.append("Distances are in degrees, and so is the length. Leave `distance` out for km along the earth.")
    prior = _prior(sheet, kernel, 0.0 if mean is None else mean, math.inf if sd is None else sd, noise**2)
    return Plan(prior, policy, (*sheet.remarks, *remarks, *_beginning(prior, policy)))


def plan_of_zeros_and_ones(
    sheet: Sheet, policy: Policy, *, successes: float | None = None, failures: float | None = None
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
    return Plan(prior, policy, (*sheet.remarks, *_beginning(prior, policy)))


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


def _beginning(prior: Belief, policy: Policy) -> list[str]:
    """Return a remark if the policy tries arms before it prefers good ones."""
    pending = int(np.count_nonzero(policy.pending(prior)))
    if not pending:
        return []
    shorter = _SHORTER if isinstance(policy, CorrelatedUCL) else ""
    return [
        f"The rule begins by trying arms of which too little is known, now {pending:,} of {prior.arms:,}, before it "
        f"prefers good ones.{shorter}"
    ]


def _one(what: str, column: Array | None, given: float | None, option: str = "") -> Any:
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
