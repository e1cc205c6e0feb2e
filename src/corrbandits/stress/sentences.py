"""What a stress test found, in plain sentences: the numbers of `findings`, in three digits.

A sentence gives the verdict of the prior as given; of ranges it says where the prior is safe, up to the break-even.
All are measured against the uninformative prior; in a short campaign, where its regret is chance, against independent
arms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from corrbandits._shell.numbers import counted, number
from corrbandits.stress.beside import (
    BY_CHANCE,
    INDEPENDENT_ARMS,
    beside_independent,
    by_independent,
    is_short,
    told_nothing,
)
from corrbandits.stress.change import NOT_PLAYED, about_change, about_drift, drifts
from corrbandits.stress.factors import about_factor, about_length, safe_words, varies
from corrbandits.stress.findings import HELPS, HURTS, NEITHER, NO_VERDICT, Found, alike
from corrbandits.stress.names import FIXED, HELD, INDEPENDENT, SURVIVORS, TAKEN, UNINFORMATIVE, candidate_name
from corrbandits.stress.settings import DRIFT

UNLESS = {
    "shift": ("its means are {} or {}", "lowered by more than {}", "raised by more than {}"),
    "scale": ("the contrast of its means is {} or {} times yours", "below {}", "above {}"),
    "noise": ("noise of a deviation {} or {} is added to its means", "below {}", "above {}"),
    "swap": ("its high and low regions are swapped {} or {}", "by less than {} %", "by more than {} %"),
}
"""How a break-even is said: around both ends, the lower one, the upper one."""

TRIED = {
    "shift": "its means shifted by {} to {}",
    "scale": "the contrast of its means {} to {} times yours",
    "noise": "noise of a deviation of {} to {} on its means",
    "swap": "{} to {} % of its high and low regions swapped",
    DRIFT: "a scale of the drift {} to {} times yours",
}

AGAINST = {
    "shift": "a shift of its means",
    "scale": "a wrong contrast of its means",
    "noise": "noise on its means",
    "swap": "a swap of its high and low regions",
    DRIFT: "a wrong scale of the drift",
}
UNSURE = " where you are unsure what is wrong"
SAFETY = {HELPS: "is safe", HURTS: "is unsafe"}  # up to its break-evens, by the verdict of the prior as given


def sentences(found: Found, about: Mapping[str, Any]) -> list[str]:
    """Return the findings in plain words: first what to remember, then each of them."""
    kinds = [kind for kind in UNLESS if f"{kind}_low" in found and not _idle(kind, about)]
    kinds.sort(key=lambda kind: kind != about["default_kind"])
    by = by_independent(found) if is_short(found, about) else found
    return [
        _summary(found, by, about, kinds),
        _overall(found),
        *about_change(found, about),
        *beside_independent(found, about),
        *told_nothing(found),
        *_by_surface(found, about),
        *_by_time(by),
        *_about_single_arms(by),
        *(_about_means(by, kind) for kind in kinds if by["verdict"] in SAFETY),
        *(
            ["Its means are all alike, so neither a wrong contrast of them nor a swap of high and low was tried."]
            if about.get("means_alike") and ("scale_tried" in found or "swap_tried" in found)
            else []
        ),
        about_factor(by, "confidence", "variance", about.get("variance")),
        about_length(by, about),
        *about_drift(by, about),
        *_about_initialisation(found, about),
        *_about_index(found, about),
        _about_safest(found, about),
        *([NOT_PLAYED] if drifts(about) else _about_survivors(found)),
    ]


def _summary(found: Found, by: Found, about: Mapping[str, Any], kinds: Sequence[str]) -> str:
    parts = [f"Your prior {by['verdict']}{_unless(by, kinds)}"]
    if by["verdict"] != NO_VERDICT:
        parts.append(f"{safe_words(by, about)}, with one thing wrong at a time")
    if by is not found:
        parts[0] += f", measured against {INDEPENDENT_ARMS}"
    elif found["independent"] is not None:
        parts[0] += ", measured against the uninformative one"
        parts.insert(1, f"against {INDEPENDENT_ARMS} it {found['independent_verdict']}")
    if found.get("vague_verdict") == HURTS:
        parts.append("told nothing, the recommended rule would lose less")
    if found["means_add_nothing"]:
        parts.append("your expectations of single arms add nothing")
    if found["prefer"]:
        parts.append(f"prefer the {_name(found, found['prefer'])}{UNSURE if _apart(found) else ''}")
    return "; ".join(parts) + "."


def _unless(found: Found, kinds: Sequence[str]) -> str:
    """Return up to where the prior is safe or unsafe, in every kind of inaccuracy that has a break-even."""
    if found["verdict"] == NO_VERDICT:
        return f" at t = {found['horizon']:,}, since {BY_CHANCE}: play more runs"
    if found["verdict"] not in SAFETY or not kinds:
        return ""
    clauses = [clause for kind in kinds if (clause := _break_even(found, kind))]
    until = f"unless {', or '.join(clauses)}" if clauses else "whatever was tried on its means"
    return f", and {SAFETY[found['verdict']]} {until}"


def _break_even(found: Found, kind: str) -> str:
    """Return the break-evens of a kind of inaccuracy in words, or nothing if there is none.

    >>> _break_even({"shift_low": -14.0, "shift_high": 30.0}, "shift")
    'its means are lowered by more than 14 or raised by more than 30'
    >>> _break_even({"swap_low": None, "swap_high": 0.5}, "swap")
    'its high and low regions are swapped by more than 50 %'
    """
    whole, *sides = UNLESS[kind]
    ends = [found[f"{kind}_low"], found[f"{kind}_high"]]
    texts = [side.format(_amount(x, kind)) for side, x in zip(sides, ends, strict=True) if x is not None]
    if len(texts) == 2:
        return whole.format(*texts)
    return whole.replace(" or {}", "").format(*texts) if texts else ""


def _amount(x: float, kind: str) -> str:
    return number({"shift": abs(x), "swap": 100 * x}.get(kind, x))


def _overall(found: Found) -> str:
    both = f"{number(found['given'])} with your prior and {number(found['uninformative'])} with the uninformative one"
    amount = f"{number(100 * abs(found['share']))} % {'less' if found['saving'] >= 0 else 'more'}"
    return f"At t = {found['horizon']:,} the regret is {both}: {amount}."


def _by_time(found: Found) -> list[str]:
    times, helps, hurts, by_chance = (found[name] for name in ("times", "helps_at", "hurts_at", "chance_decides_at"))
    if len(times) + len(by_chance) < 2:
        return []
    open_at = f"at t = {_list(by_chance)} there is no verdict, since {BY_CHANCE}"
    if not times:
        return [f"A{open_at[1:]}."]
    after = f"; {open_at}" if by_chance else ""
    if not by_chance and times in (helps, hurts):
        return [f"It {HELPS if helps else HURTS} at every time that was looked at: {_list(times)}."]
    parts = [f"{what} at t = {_list(when)}" for what, when in ((HELPS, helps), (HURTS, hurts)) if when]
    neither = f"{NEITHER} at t = {_list(times)}" if by_chance else f"{NEITHER} at any time that was looked at"
    return [f"It {' and '.join(parts) or neither}{after}."]


def _by_surface(found: Found, about: Mapping[str, Any]) -> list[str]:
    if found["surfaces"] < 2:
        return []
    beside = ", measured against the uninformative prior" if is_short(found, about) else ""
    return [f"Of {found['surfaces']:,} surfaces that were met, it {HELPS} on {found['better']:,}{beside}."]


def _about_single_arms(found: Found) -> list[str]:
    """Return what the means of single arms are worth, beside the correlations."""
    if found["one_mean"] is None:
        return []
    both = f"With one mean for all arms the regret is {number(found['one_mean'])}, against {number(found['given'])}"
    if not found["means_add_nothing"]:
        return [f"{both} with your means: your expectations of single arms save {number(found['means_save'])}."]
    gain = "; the gain is from correlation" if found["verdict"] == HELPS else ""
    return [f"{both} with your means: your expectations of single arms add nothing{gain}."]


def _about_initialisation(found: Found, about: Mapping[str, Any]) -> list[str]:
    """Return how many decisions are initialisation, with the prior as given and where that differs the most."""
    own, ends, tried = found["initial"], found["confidence_initial"], found["confidence_tried"]
    others = [
        f"{number(x)} at {number(factor)} times its variance" for x, factor in zip(ends, tried, strict=True) if x != own
    ]
    if not (own or others):
        return []
    shorter = "; a smaller nu shortens it" if str(about.get("policy", "")).startswith("CorrelatedUCL") else ""
    parts = ", ".join([f"{number(own)} are initialisation with your prior", *others])
    return [f"Of {counted(found['horizon'], 'decision')}, {parts}{shorter}."]


def _name(found: Found, candidate: str) -> str:
    return candidate_name(candidate, [name for name in FIXED if found[f"{name}_worst"] is not None])


def _list(times: Sequence[int]) -> str:
    return ", ".join(f"{t:,}" for t in times)


def _idle(kind: str, about: Mapping[str, Any]) -> bool:
    """Return whether a kind of inaccuracy changes nothing."""
    return kind in ("scale", "swap") and bool(about.get("means_alike"))


def _about_means(found: Found, kind: str) -> str:
    if clause := _break_even(found, kind):
        return f"It {SAFETY[found['verdict']]} unless {clause}."
    return f"It {SAFETY[found['verdict']]} with {_tried(found, kind)}."


def _tried(found: Found, kind: str) -> str:
    said = TRIED[kind].format(*(number(100 * x if kind == "swap" else x) for x in found[f"{kind}_tried"]))
    return f"{said} and {TAKEN}" if kind == DRIFT and found["fixed"] is not None else said


def _about_index(found: Found, about: Mapping[str, Any]) -> list[str]:
    printed, plain = found["printed_excess"], found["plain_excess"]
    if printed is None or plain is None:
        return []
    if not found["prefer"]:
        return ["Neither index is to be preferred: at most, each costs as much more than the other."]
    costs = f"the printed index costs at most {number(max(printed, 0.0))} more than the plain one"
    other = f"the plain at most {number(max(plain, 0.0))} more than the printed"
    advice = f"prefer the {_name(found, found['prefer'])}"
    if _apart(found):
        advice += f"{UNSURE}, the {found['safest_candidate']} one against {AGAINST[about['default_kind']]} alone"
    return [f"In one and the same setting {costs} and {other}: {advice}."]


def _apart(found: Found) -> bool:
    """Return whether the index to prefer is not the one that is safest against wrong means alone."""
    return found["prefer"] not in (None, found["safest_candidate"])


def _about_safest(found: Found, about: Mapping[str, Any]) -> str:
    variance, length = about.get("variance"), about.get("assumed_length")
    confidence, scale = found["safest_confidence"], found["safest_length"]
    parts = [
        f"a variance of {number(confidence * variance)}" if variance else f"{number(confidence)} times your variance"
    ]
    if varies(found, "length"):
        parts.append(f"a length of {number(scale * length)}" if length else f"{number(scale)} times your length")
    where = f"the {_name(found, found['safest_candidate'])} with {' and '.join(parts)}"
    kind = about["default_kind"]
    least = f"with {_tried(found, kind)}, its regret is at most {number(found['safest_worst'])}"
    reference = INDEPENDENT if is_short(found, about) else UNINFORMATIVE
    level, without = found[reference], _name(found, reference)
    if reference == UNINFORMATIVE:
        without = f"the {without}"
    if found["safest_worst"] > level:
        are = "are" if reference == INDEPENDENT else "is"
        return f"Safest against {AGAINST[kind]} {are} {without}, with {number(level)}; of yours, {where}: {least}."
    return f"Safest against {AGAINST[kind]} is {where}: {least}, against {number(level)} with {without}."


def _about_survivors(found: Found) -> list[str]:
    played = [name for name in SURVIVORS if found[f"corners_{name}"] is not None]
    if not played:
        return []
    fixed = found["corners_given"]
    parts = [f"{number(found[f'corners_{name}'])} with {_name(found, name)}" for name in played]
    better = [
        name for name in played if found[f"corners_{name}"] < fixed and not alike(found[f"corners_{name}"], fixed)
    ]
    verdict = (
        f"{' and '.join(better)} {'save' if len(better) > 1 else 'saves'} regret" if better else "none saves regret"
    )
    more = max((found[f"corners_{name}_more"] or 0.0 for name in better), default=0.0)
    if more:
        verdict += f"; at the other corners {'they cost' if len(better) > 1 else 'it costs'} up to {number(more)} more"
    corners = f"At the worst of the {len(found['corners'])} corners the regret is"
    return [f"{corners} {number(fixed)} with the {_name(found, HELD)}, {' and '.join(parts)}: {verdict}."]
