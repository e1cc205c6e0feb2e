"""What a stress test says of those whom the prior is measured against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from corrbandits._shell.numbers import counted, number
from corrbandits.stress.findings import HELPS, HURTS, NEITHER, NO_VERDICT, Found

INDEPENDENT_ARMS = "independent arms of the right mean and deviation"
SHORT = 2  # decisions per arm: in fewer, one that knows nothing hardly comes to choose
BY_CHANCE = "chance may have decided it"


def beside_independent(found: Found, about: Mapping[str, Any]) -> list[str]:
    """Return how the prior compares with independent arms, and whom to go by where the campaign is short."""
    if (level := found["independent"]) is None:
        return []
    given, horizon = found["given"], found["horizon"]
    share = f"{number(100 * abs(level - given) / level if level else 0.0)} % {'less' if level >= given else 'more'}"
    known = f"{number(about['overall_mean'])} and {number(about['overall_deviation'])}"
    beside = f"{number(level)}: beside these your prior {found['independent_verdict']} ({share})"
    said = [f"With {INDEPENDENT_ARMS}, {known}, it is {beside}."]
    if is_short(found, about):
        once = "only once" if horizon <= int(about["arms"]) else "once before it comes to choose"
        said.append(
            f"In {counted(horizon, 'decision')} among {counted(int(about['arms']), 'arm')} the uninformative prior "
            f"tries arms {once}: its regret is mostly chance. So what helps and what is safe is said here by "
            "independent arms."
        )
    return said


def told_nothing(found: Found) -> list[str]:
    """Return what the recommended rule would lose if it were told nothing beforehand."""
    if (level := found["vague"]) is None:
        return []
    given, what = found["given"], found["vague_verdict"]
    share = f"{number(100 * abs(level - given) / given if given else 0.0)} % {'more' if level >= given else 'less'}"
    advice = {
        HELPS: "what you know is worth saying",
        HURTS: "prefer it to your policy with your prior",
        NEITHER: "that makes no difference",
        NO_VERDICT: f"there is no verdict, since {BY_CHANCE}",
    }[what]
    return [f"Told nothing beforehand, the recommended rule would lose {number(level)}, {share}: {advice}."]


def is_short(found: Found, about: Mapping[str, Any]) -> bool:
    """Return whether a policy that knows nothing hardly comes to choose, and there is another to go by."""
    return found["independent"] is not None and found["horizon"] < SHORT * int(about["arms"])


def by_independent(found: Found) -> Found:
    """Return the findings with all that is measured, measured against independent arms."""
    measured = {name.removeprefix("independent_"): x for name, x in found.items() if name.startswith("independent_")}
    return found | measured
