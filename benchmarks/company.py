"""What a team costs: ten players beside one, for each way to share.

    python -m benchmarks.company [--quick] [--out docs]

A decision is that of one player: the choice, the reward, and what its belief makes of all it hears. One player is what
`simulate` plays, the mean over as many runs as there are players. Both take turns, and the fastest of each counts. Ten
players should take at most 12 times what one takes. Where players average estimates, all counts change at every step:
there the one player is a team of one that does the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from benchmarks.beside import Beside, options
from benchmarks.timing import load, tell
from corrbandits import UCB1, UCL, Correlated, CorrelatedUCL, Exponential, Independent, Team, simulate, simulate_team
from corrbandits.environments import landscapes

PLAYERS, REPETITIONS = 10, 15
BESIDE = Beside(
    "rule, belief and sharing",
    "one player",
    f"{PLAYERS} players",
    most=12.0,
    data="company-speed.json",
    page="company.md",
    mark="speed",
)
SHARING = {
    "sharing none": {"sharing": "none"},
    "sharing full": {"sharing": "full"},
    "sharing consensus": {"sharing": "consensus"},
    "consensus on a ring": {"sharing": "consensus", "graph": "ring"},
}
WHERE = landscapes.grid(10, 10)
KERNEL = 4 * Exponential(3.0)
BANDIT = landscapes.draw(KERNEL, WHERE, noise_variance=1.0, seed=0)
FLAT = Independent(noise_variance=1.0, arms=len(WHERE))
JOINT = Correlated(kernel=KERNEL, coordinates=WHERE, noise_variance=1.0)
PAIRS = {
    "UCB1, independent arms": (UCB1(), FLAT, 20_000),
    "UCL, independent arms": (UCL(), FLAT, 20_000),
    "UCL, correlated arms": (UCL(), JOINT, 2_000),
    "CorrelatedUCL, correlated arms": (CorrelatedUCL(), JOINT, 2_000),
}
SHORT = 100
"""So many decisions where each takes O(N^3)."""


def main() -> None:
    asked = options("python -m benchmarks.company", __doc__.splitlines()[0])
    data = measured(share=0.01 if asked.quick else 1.0)
    print(BESIDE.table(data))
    if asked.out:
        BESIDE.save(data, asked.out)


def measured(*, share: float) -> dict[str, Any]:
    """Return seconds per step of one player and of many, for each rule, belief and way to share."""
    before, rows = load(), []
    for name, (policy, belief, horizon) in PAIRS.items():
        for words, way in SHARING.items():
            tell(f"{name}, {words}")
            steps = SHORT if averages(way) and belief is JOINT else max(round(share * horizon), SHORT)
            one, many = contest(*contestants(policy, belief, way, steps), max(round(share * REPETITIONS), 1))
            rows.append({"what": f"{name}, {words}", "one": one / PLAYERS / steps, "other": many / steps})
    return BESIDE.data_of(rows, before)


def averages(way: dict[str, Any]) -> bool:
    """Return whether players average estimates."""
    return way["sharing"] == "consensus"


def contestants(
    policy: Any, belief: Any, way: dict[str, Any], steps: int
) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return what plays one player in as many runs as a team has players, and what plays the team in one run."""
    options: dict[str, Any] = {"record": "summary", "threads": 1}
    team = Team.of(policy, belief, PLAYERS, **way)

    def alone() -> None:
        if averages(way):
            simulate_team(Team.of(policy, belief, 1, **way), BANDIT, steps, runs=PLAYERS, **options)
        else:
            simulate({"one": (policy, belief)}, BANDIT, steps, runs=PLAYERS, **options)

    return alone, lambda: simulate_team(team, BANDIT, steps, **options)


def contest(one: Callable[[], Any], many: Callable[[], Any], repetitions: int) -> tuple[float, float]:
    """Return the least time of each, after a first turn that compiles, the two taking turns."""
    best = [float("inf")] * 2
    for repetition in range(repetitions + 1):
        for number, work in enumerate((one, many)):
            begun = time.perf_counter()
            work()
            if repetition:
                best[number] = min(best[number], time.perf_counter() - begun)
    return best[0], best[1]


if __name__ == "__main__":
    main()
