"""Priors and policies as JSON, and back: the name of a class of ours and its arguments, never code.

An array whose entries are all the same is written as one number, a covariance as its lower triangle, infinity as
"inf", the rule within a rule as `of`. Numbers come back to the last bit.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from corrbandits import belief as beliefs
from corrbandits import kernels
from corrbandits._core.checks import fields_of
from corrbandits.belief import Belief, Vague
from corrbandits.kernels import Kernel
from corrbandits.moves import Moves
from corrbandits.policies import RULES, Policy

MOST_LISTED = 2_000
"""A covariance of more arms than this is not written down number by number."""

MOST_MEMORY = 4e9
"""A prior that others describe may take so many bytes; more would be a trap, or needs a kernel for many arms."""

Data = dict[str, Any]


def prior_data(prior: Belief) -> Data:
    """Return a prior as data.

    >>> from corrbandits import Independent
    >>> prior_data(Independent(mean=[1.0, 2.0], noise_variance=4.0))
    {'belief': 'Independent', 'mean': [1.0, 2.0], 'variance': 'inf', 'noise_variance': 4.0, 'arms': 2}
    """
    kind = type(prior).__name__
    if beliefs.KINDS.get(kind) is not type(prior):
        raise TypeError(f"a study's prior must be one of {', '.join(beliefs.KINDS)}, got {prior!r:.60}.")
    if prior.counts.any() or prior.awaited:
        raise ValueError(
            "a study begins with a prior, which has seen nothing, but this belief has. Give the prior, and then the "
            "rewards by observe(arm, reward)."
        )
    return {"belief": kind} | {name: _argument(name, value) for name, value in prior.prior_arguments().items()}


def prior_from(data: Mapping[str, Any]) -> Belief:
    """Return the prior that data describe."""
    kind, arguments = prior_parts(data)
    made: Belief = _made(kind, arguments, "a prior")
    return made


def prior_parts(data: Mapping[str, Any]) -> tuple[Any, Data]:
    """Return the class and the arguments of the prior that data describe."""
    kind, arguments = _called(data, "belief", beliefs.KINDS, "a prior")
    if "beliefs" in arguments:
        arguments["beliefs"] = [prior_from(one) for one in arguments["beliefs"]]
    if "prior" in arguments:
        arguments["prior"] = prior_from(arguments["prior"])
    if kind is Vague:
        return kind, _fitting(kind, arguments, "a prior")
    if "kernel" in arguments:
        arguments["kernel"] = kernel_from(arguments["kernel"])
    if "covariance" in arguments:
        arguments["covariance"] = _square(arguments["covariance"])
    return kind, _fitting(kind, arguments, "a prior")


_BEYOND = 10**100  # more arms than this are as many: a float holds their square


def memory_of(data: Any, more: int = 0) -> float:
    """Return about how many bytes the prior takes that data describe, with more arms; without making it.

    >>> memory_of({"belief": "Independent", "noise_variance": 1.0, "arms": 10**8}) / 1e9
    6.4
    """
    if not isinstance(data, Mapping):
        return 0.0
    parts = data.get("beliefs")
    if isinstance(parts, list):
        return sum(memory_of(part, more) for part in parts)
    if "prior" in data:
        times = data.get("parts") if isinstance(data.get("scale"), list) else 1
        return memory_of(data["prior"], more) * (times if isinstance(times, int) else 1)
    listed = [value for name in ("coordinates", "covariance", "mean") if isinstance(value := data.get(name), list)]
    claimed = data.get("arms")
    arms = more + max([min(claimed, _BEYOND) if isinstance(claimed, int) else 0, *map(len, listed)])
    dense = data.get("belief") == beliefs.Correlated.__name__ or "covariance" in data
    return 24.0 * arms**2 if dense else 64.0 * arms  # covariances and vectors in use at once


def kernel_data(kernel: Any) -> Data:
    """Return a kernel as data.

    >>> from corrbandits import Exponential
    >>> kernel_data(10 * Exponential(3.0))["variance"]
    10.0
    """
    if not kernels.made_of_ours(kernel):
        raise TypeError(
            f"a study writes its kernel down, so it must be made of {', '.join(kernels.KINDS)}, got {kernel!r:.60}. "
            "Use these, or give Correlated(covariance=matrix)."
        )
    said = fields_of(kernel) | {name: kernel_data(part) for name, part in kernel.parts.items()}
    return {"kernel": type(kernel).__name__} | {"of" if name == "kernel" else name: x for name, x in said.items()}


def kernel_from(data: Any) -> Kernel:
    """Return the kernel that data describe."""
    kind, arguments = _called(data, "kernel", kernels.KINDS, "a kernel")
    parts = {name: kernel_from(value) for name, value in arguments.items() if isinstance(value, Mapping)}
    made: Kernel = _made(kind, arguments | parts, "a kernel")
    return made


def policy_data(policy: Policy) -> Data:
    """Return a policy as data.

    >>> from corrbandits import Thompson
    >>> policy_data(Thompson())
    {'rule': 'Thompson'}
    """
    rule = type(policy).__name__
    if RULES.get(rule) is not type(policy):
        raise TypeError(f"a study's policy is one of {', '.join(RULES)}, got {policy!r:.60}.")
    said = {"of" if name == "rule" else name: _of_a_rule(value) for name, value in fields_of(policy).items()}
    return {"rule": rule} | said


def policy_from(data: Mapping[str, Any]) -> Policy:
    """Return the policy that data describe."""
    kind, arguments = _called(data, "rule", RULES, "a policy", within="rule")
    if "rule" in arguments:
        arguments["rule"] = policy_from(arguments["rule"])
    if isinstance(arguments.get("moves"), Mapping):
        arguments["moves"] = _made(Moves, dict(arguments["moves"]), "moves")
    made: Policy = _made(kind, arguments, "a policy")
    return made


def _of_a_rule(value: Any) -> Any:
    """Return a field of a rule as data: a number, the rule within, what moves cost."""
    if isinstance(value, Policy):
        return policy_data(value)
    if isinstance(value, Moves):
        return {name: said for name, said in fields_of(value).items() if said is not None}
    return _number(value) if isinstance(value, float) else value


def _called(data: Any, key: str, kinds: Mapping[str, Any], what: str, *, within: str = "kernel") -> tuple[Any, Data]:
    """Return the class that data name, and its arguments; what is within a kernel or a rule is written as `of`."""
    if not isinstance(data, Mapping) or not isinstance(data.get(key), str) or data[key] not in kinds:
        raise ValueError(f"{what} must say which of {', '.join(kinds)} it is, got {data!r:.60}.")
    arguments = {name: value for name, value in data.items() if name != key}
    if "of" in arguments:
        arguments[within] = arguments.pop("of")
    return kinds[data[key]], arguments


def _fitting(kind: Any, arguments: Data, what: str) -> Data:
    """Return the arguments as the class takes them; refuse what it does not take, and what is missing."""
    with _explaining(kind, what):
        inspect.signature(kind).bind(**arguments)
    return {name: _read(value) for name, value in arguments.items()}


def _made(kind: Any, arguments: Data, what: str) -> Any:
    with _explaining(kind, what):
        return kind(**{name: _read(value) for name, value in arguments.items()})


@contextmanager
def _explaining(kind: Any, what: str) -> Iterator[None]:
    try:
        yield
    except TypeError as error:
        raise ValueError(f"{what} of class {kind.__name__} cannot be made: {error}") from None


def _argument(name: str, value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, tuple):  # what a Vague belief was told: an interval, or the names of kernels
        return list(value)
    if name == "kernel":
        return kernel_data(value)
    if name == "prior":
        return prior_data(value)
    if name == "beliefs":
        return [prior_data(belief) for belief in value]
    if isinstance(value, int):
        return value
    if name == "covariance":
        return _lower(value)
    array = np.asarray(value, dtype=np.float64)
    if array.ndim < 2 and (array == array.flat[0]).all():
        return _number(float(array.flat[0]))
    return [_number(x) for x in array.tolist()] if array.ndim == 1 else array.tolist()


def _lower(matrix: Any) -> list[list[float]]:
    if len(matrix) > MOST_LISTED:
        raise ValueError(
            f"a covariance that is written down number by number may have {MOST_LISTED:,} arms, got {len(matrix):,}. "
            "Give kernel= and coordinates= instead."
        )
    return [row[: k + 1].tolist() for k, row in enumerate(matrix)]


def _square(rows: Any) -> Any:
    if not isinstance(rows, list) or [len(row) for row in rows] != list(range(1, len(rows) + 1)):
        raise ValueError("a covariance must be written as its lower triangle, row by row, but it is not.")
    matrix = np.zeros((len(rows), len(rows)))
    for k, row in enumerate(rows):
        matrix[k, : k + 1] = matrix[: k + 1, k] = row
    return matrix


def _number(x: float) -> float | str:
    return str(x) if math.isinf(x) else x


def _read(value: Any) -> Any:
    """Return an argument with its infinities and tuples restored."""
    if isinstance(value, str) and value in ("inf", "-inf"):
        return float(value)
    if isinstance(value, list) and value and not isinstance(value[0], (list, Belief)):
        return tuple(math.inf if x == "inf" else x for x in value)
    return value
