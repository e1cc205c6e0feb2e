"""Kernels and policies by their names."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from corrbandits._shell.texts import near
from corrbandits.kernels import KERNELS, Kernel
from corrbandits.policies import RULES, Policy, Wrapper

DISTANCES = ("euclidean", "cityblock", "great_circle", "chordal")


def kernel_called(
    name: str, lengths: Sequence[float], distance: str | None, alpha: float | None, axes: Sequence[str]
) -> Kernel:
    """Return the kernel of this name for arms that lie on these axes.

    On latitude and longitude, distances are along the earth in km: great circle, or chordal where a kernel needs it.
    """
    kind = KERNELS[known_name("`kernel`", name, KERNELS)]
    if not axes:
        raise ValueError(
            "`kernel` needs to know where arms lie, but the file has no columns for it. Add x and y, x, or latitude "
            "and longitude; or leave `kernel` out, for arms that say nothing of each other."
        )
    if not lengths:
        raise ValueError("`kernel` needs `length`, how far arms resemble each other, got none. Add it.")
    options: dict[str, Any] = {} if alpha is None else {"alpha": alpha}
    if alpha is not None and name != "rational_quadratic":
        raise ValueError(f"`alpha` is for the kernel rational_quadratic only, got {name}. Leave it out.")
    if distance is None and "latitude" in axes:
        distance = "great_circle" if name == "exponential" else "chordal"
    if distance is not None:
        options["distance"] = known_name("`distance`", distance, DISTANCES)
    if options.get("distance") in ("great_circle", "chordal") and "latitude" not in axes:
        raise not_on_the_globe(str(distance), axes)
    return kind(length=lengths[0] if len(lengths) == 1 else tuple(lengths), **options)


def not_on_the_globe(distance: str, axes: Sequence[str]) -> ValueError:
    """Return the error of a distance along the earth between arms that do not lie on it."""
    return ValueError(
        f"`distance` {distance} needs columns latitude and longitude, but the file has {' and '.join(axes)}. Leave "
        "it out, or rename them."
    )


def policy_called(name: str, given: Mapping[str, float | bool], rounds: int | None = None) -> Policy:
    """Return the policy of this name with these parameters; a horizon that is not among them is `rounds`.

    A rule within another is in brackets, and a parameter is that of the outermost rule which has it.

    >>> policy_called("Softmax(Gittins)", {"temperature": 0.5}, rounds=40)
    Softmax(rule=Gittins(horizon=40), temperature=0.5)
    """
    outer, bracket, within = name.partition("(")
    kind: Any = RULES[known_name("`policy`", outer.strip(), RULES)]
    fields = {field.name: field for field in dataclasses.fields(kind)}
    _refuse_brackets(kind.__name__, name, bracket, within, needed="rule" in fields)
    if "horizon" in fields and rounds is not None and given.get("horizon", rounds) != rounds:
        raise ValueError(
            f"`rounds` is the horizon of {kind.__name__}: it must be given once, got {rounds} and `set` "
            f"horizon={given['horizon']:g}. Leave one of them out."
        )
    values: dict[str, Any] = {"horizon": rounds} if "horizon" in fields and rounds is not None else {}
    others = {key: value for key, value in given.items() if key not in fields or key == "rule"}
    if bracket:
        values["rule"] = policy_called(within.strip().removesuffix(")"), others, rounds)
    elif others:
        known = ", ".join(fields) or "none"
        raise ValueError(f"`set` must name a parameter of {kind.__name__} ({known}), got {next(iter(others))!r:.60}.")
    values |= {key: _parameter(key, value, str(fields[key].type)) for key, value in given.items() if key not in others}
    _refuse_missing(kind.__name__, fields, values)
    made: Policy = kind(**values)
    return made


def _refuse_brackets(kind: str, name: str, bracket: str, within: str, *, needed: bool) -> None:
    """Refuse a rule that needs another within it and has none, one that has one and takes none, and lone brackets."""
    if needed and not bracket:
        raise ValueError(f"{kind} goes around another rule, got none. Name it in brackets: `policy` '{kind}(Gittins)'.")
    if bracket and (not needed or not within.strip().endswith(")")):
        raise ValueError(f"`policy` must be a rule, or a rule around another such as 'Blocked(UCL)', got {name!r:.60}.")


def _refuse_missing(kind: str, fields: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    for field in fields.values():
        if field.default is dataclasses.MISSING and field.name not in values:
            if str(field.type) == "Moves":
                raise ValueError(
                    f"{kind} is made of a rule and what moves cost. Name the rule alone, and say the cost besides: "
                    "`policy` UCL `move_cost` 1."
                )
            if str(field.type) == "Any":
                raise ValueError(f"{kind} needs a {field.name}, which only Python and experiment files can give.")
            other = ", or `rounds`" if field.name == "horizon" else ""
            raise ValueError(f"{kind} needs `set` {field.name}=...{other}, got none. Add it.")


def with_rounds(policy: Policy, rounds: int) -> Policy:
    """Return the same policy for another number of rewards in all; refuse one that does not mind how many.

    >>> from corrbandits import Gittins
    >>> with_rounds(Gittins(40), 80)
    Gittins(horizon=80)
    """
    changes = _horizons(policy, rounds)
    if not changes:
        raise ValueError(
            f"`rounds` is for a rule with a horizon, such as Gittins, but the study's is {type(policy).__name__}. "
            "Leave it out, or name another by `policy`."
        )
    made: Any = policy
    changed: Policy = dataclasses.replace(made, **changes)
    return changed


def minds_rounds(policy: Policy) -> bool:
    """Return whether a rule minds how many rewards there will be.

    >>> from corrbandits import UCL, Blocked, Gittins
    >>> minds_rounds(Blocked(Gittins(40))), minds_rounds(Blocked(UCL()))
    (True, False)
    """
    return bool(_horizons(policy, 1))


def _horizons(policy: Any, rounds: int) -> dict[str, Any]:
    """Return what changes in a rule that minds how many rewards there will be, or has such a rule within."""
    changes: dict[str, Any] = {}
    if any(field.name == "horizon" for field in dataclasses.fields(policy)):
        changes["horizon"] = rounds
    if isinstance(policy, Wrapper) and _horizons(policy.rule, rounds):
        changes["rule"] = with_rounds(policy.rule, rounds)
    return changes


def _parameter(name: str, value: float | bool, kind: str) -> bool | int | float:
    """Return a value of the type that the policy's field has."""
    if (kind == "bool") != isinstance(value, bool):
        expected = "true or false" if kind == "bool" else "a number"
        raise ValueError(f"`set` {name} must be {expected}, got {value!r}.")
    whole = kind.startswith("int")
    if whole and value != int(value):
        raise ValueError(f"`set` {name} must be a whole number, got {value!r}.")
    return int(value) if whole else value


def known_name(what: str, name: str, known: Mapping[str, Any] | Collection[str]) -> str:
    """Return a name that is known; of one that is not, say which are near, and what these are."""
    if name in known:
        return name
    found = near(name, known, count=3)
    words = {one: _first_words(known[one]) if isinstance(known, Mapping) else "" for one in found}
    meant = "; ".join(f"{one} ({said})" if said else one for one, said in words.items())
    raise ValueError(
        f"{what} must be one of {', '.join(known)}, got {name!r:.60}.{f' Did you mean {meant}?' if meant else ''}"
    )


def _first_words(kind: Any) -> str:
    return (kind.__doc__ or "").partition("\n")[0].rstrip(".")
