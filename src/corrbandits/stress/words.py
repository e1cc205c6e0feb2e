"""What a stress test found, in plain sentences: the numbers of `findings`, in three digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from corrbandits.stress.findings import SURVIVORS, Found, alike

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
}


def sentences(found: Found, about: Mapping[str, Any]) -> list[str]:
    """Return the findings in plain words: first what to remember, then each of them."""
    kinds = [kind for kind in UNLESS if f"{kind}_low" in found and not _idle(kind, about)]
    kinds.sort(key=lambda kind: kind != about["default_kind"])
    return [
        _summary(found, about, kinds),
        _overall(found),
        *_by_time(found),
        *(_about_means(found, kind) for kind in kinds if found["verdict"] != "makes no difference"),
        *(
            ["Its means are all alike: their contrast, and high and low regions, are not there to be wrong."]
            if about.get("means_alike")
            else []
        ),
        _about_factor(found, "confidence", "variance", about.get("variance")),
        _about_length(found, about),
        *_about_index(found),
        _about_safest(found, about),
        *_about_survivors(found),
    ]


def said(x: float) -> str:
    """Return a number in three digits, as a person writes it.

    >>> said(1234.5), said(0.31623), said(14.0), said(-2.345)
    ('1,230', '0.316', '14', '-2.35')
    """
    rounded = float(f"{x:.3g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 1000 else f"{rounded:g}"


def _summary(found: Found, about: Mapping[str, Any], kinds: Sequence[str]) -> str:
    parts = [f"Your prior {found['verdict']}{_unless(found, kinds)}", _safe_words(found, about)]
    if found["prefer"]:
        parts.append(f"prefer the {found['prefer']} index")
    return "; ".join(parts) + "."


def _unless(found: Found, kinds: Sequence[str]) -> str:
    """Return up to where the verdict holds, in the first kind of inaccuracy that has a break-even."""
    if found["verdict"] == "makes no difference":
        return ""
    clauses = (_break_even(found, kind) for kind in kinds)
    return next((f" unless {clause}" for clause in clauses if clause), " whatever was tried on its means")


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
    return said({"shift": abs(x), "swap": 100 * x}.get(kind, x))


def _safe_words(found: Found, about: Mapping[str, Any]) -> str:
    if _no_length(found):
        return f"a variance of {_range(found, 'confidence', about.get('variance'))}"
    return f"a length of {_range(found, 'length', about.get('assumed_length'))}"


def _range(found: Found, factor: str, unit: float | None) -> str:
    """Return where a factor is safe, in its own unit if it has one."""
    low, high = found[f"{factor}_low"], found[f"{factor}_high"]
    tried, own = found[f"{factor}_tried"], 1.0 if unit is None else unit
    times = " times yours" if unit is None else ""
    if low is None:
        return f"{said(tried[0] * own)} to {said(tried[1] * own)}{times} is nowhere safe"
    ends = {(True, True): ", all that was tried,", (True, False): ", from the least that was tried,"}
    ends[False, True] = ", the most that was tried,"
    return f"{said(low * own)} to {said(high * own)}{times}{ends.get(found[f'{factor}_to_the_end'], '')} is safe"


def _overall(found: Found) -> str:
    both = f"{said(found['given'])} with your prior and {said(found['uninformative'])} with the uninformative one"
    amount = f"{said(100 * abs(found['share']))} % {'less' if found['saving'] >= 0 else 'more'}"
    return f"At t = {found['horizon']:,} the regret is {both}: {amount}."


def _by_time(found: Found) -> list[str]:
    times, helps, hurts = found["times"], found["helps_at"], found["hurts_at"]
    if len(times) < 2:
        return []
    if helps == times or hurts == times:
        return [f"It {'helps' if helps else 'hurts'} at every time that was looked at: {_list(times)}."]
    parts = [f"{what} at t = {_list(when)}" for what, when in (("helps", helps), ("hurts", hurts)) if when]
    return [f"It {' and '.join(parts)}." if parts else "It makes no difference at any time that was looked at."]


def _list(times: Sequence[int]) -> str:
    return ", ".join(f"{t:,}" for t in times)


def _idle(kind: str, about: Mapping[str, Any]) -> bool:
    """Return whether a kind of inaccuracy changes nothing."""
    return kind in ("scale", "swap") and bool(about.get("means_alike"))


def _about_means(found: Found, kind: str) -> str:
    if clause := _break_even(found, kind):
        return f"It {found['verdict']} unless {clause}."
    low, high = (said(100 * x if kind == "swap" else x) for x in found[f"{kind}_tried"])
    return f"It still {found['verdict']} with {TRIED[kind].format(low, high)}."


def _no_length(found: Found) -> bool:
    return bool(found["length_tried"][0] == found["length_tried"][1])


def _about_factor(found: Found, factor: str, noun: str, unit: float | None) -> str:
    best = found[f"{factor}_best"] * (1.0 if unit is None else unit)
    return f"A {noun} of {_range(found, factor, unit)}; {said(best)}{'' if unit else ' times'} was best."


def _about_length(found: Found, about: Mapping[str, Any]) -> str:
    if _no_length(found):
        why = "" if about.get("has_kernel") else ": a covariance without a kernel has no length"
        return f"The correlation scale was not varied{why}."
    return _about_factor(found, "length", "length", about.get("assumed_length"))


def _about_index(found: Found) -> list[str]:
    printed, plain = found["printed_excess"], found["plain_excess"]
    if printed is None or plain is None:
        return []
    if not found["prefer"]:
        return ["Neither index is to be preferred: at most, each costs as much more than the other."]
    costs = f"the printed index costs at most {said(max(printed, 0.0))} more than the plain one"
    other = f"the plain at most {said(max(plain, 0.0))} more than the printed"
    return [f"In one and the same setting {costs} and {other}: prefer the {found['prefer']} index."]


def _about_safest(found: Found, about: Mapping[str, Any]) -> str:
    variance, length = about.get("variance"), about.get("assumed_length")
    confidence, scale = found["safest_confidence"], found["safest_length"]
    parts = [f"a variance of {said(confidence * variance)}" if variance else f"{said(confidence)} times your variance"]
    if not _no_length(found):
        parts.append(f"a length of {said(scale * length)}" if length else f"{said(scale)} times your length")
    where = f"the {found['safest_candidate']} index with {' and '.join(parts)}"
    least = f"whatever was tried on its means, its regret is at most {said(found['safest_worst'])}"
    if found["safest_worst"] > found["uninformative"]:
        flat = said(found["uninformative"])
        return f"Safest is the uninformative prior, with {flat}; of yours, {where}: {least}."
    return f"Safest is {where}: {least}, against {said(found['uninformative'])} with the uninformative prior."


def _about_survivors(found: Found) -> list[str]:
    played = [name for name in SURVIVORS if found[f"corners_{name}"] is not None]
    if not played:
        return []
    fixed = found["corners_given"]
    parts = [f"{said(found[f'corners_{name}'])} with {name}" for name in played]
    better = [
        name for name in played if found[f"corners_{name}"] < fixed and not alike(found[f"corners_{name}"], fixed)
    ]
    verdict = (
        f"{' and '.join(better)} {'save' if len(better) > 1 else 'saves'} regret" if better else "none saves regret"
    )
    return [
        f"At the worst of the {len(found['corners'])} corners the regret is {said(fixed)} with the prior held fixed, "
        f"{' and '.join(parts)}: {verdict}."
    ]
