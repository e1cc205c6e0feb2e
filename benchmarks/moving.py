"""What the rule that minds the way saves, and what each piece of it is worth: regret and cost of moves on grids.

    python -m benchmarks.moving [--problems 100] [--horizon 200] [--out docs]

Surfaces are drawn from the prior that every rule is given, on a grid of 8 x 8 arms; all rules meet the same noise. The
seeds are not those that the rule was tried out on.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from benchmarks.report import marked
from benchmarks.timing import tell
from corrbandits import (
    UCL,
    Blocked,
    Correlated,
    Exponential,
    Gittins,
    Matern52,
    Moves,
    Travelling,
    landscapes,
    simulate,
)
from corrbandits._core.checks import Array
from corrbandits.belief import Belief
from corrbandits.policies import Policy
from corrbandits.policies.base import best
from corrbandits.policies.wrapping import IndexWrapper

DATA, PAGE, MARK = "moving.json", "moving.md", "travelling"
WHERE = landscapes.grid(8, 8)
KERNELS = ((10 * Exponential(3.0), 10.0), (25 * Matern52(2.0), 4.0))
"""Kernels, and the noise variances that go with them."""

COSTS = {
    "1 a move": {"per_move": 1.0},
    "5 a move": {"per_move": 5.0},
    "0.5 a unit": {"per_distance": 0.5},
    "2 a unit": {"per_distance": 2.0},
    "10 a move, 2 a unit": {"per_move": 10.0, "per_distance": 2.0},
}
FIRST_SEED = 20_000


@final
@dataclass(frozen=True)
class Charging(IndexWrapper):
    """The index less the cost over a stay that is another than `Travelling` has: what its pieces are worth."""

    moves: Moves
    horizon: int
    stay: str

    def choose(self, belief: Belief, t: int, *, rng: Any = None, allowed: Any = None, last: int | None = None) -> int:
        """Return the arm of largest index, the way paid by all decisions left, their root, or the chance alone."""
        if last is None:
            return self.rule.choose(belief, t)
        return best(self.index(belief, t) - self.moves.row(last, belief.arms) / self._stay(belief, t))

    def _stay(self, belief: Belief, t: int) -> Array | float:
        left = float(self.horizon - t + 1)
        if self.stay == "all that is left":
            return left
        if self.stay == "its root":
            return float(np.sqrt(left))
        from scipy.special import ndtr

        return np.maximum(1.0, left * ndtr((belief.mean - belief.mean.max()) / belief.deviation))


def players(rule: Any, moves: Moves, horizon: int) -> dict[str, Policy]:
    """Return who plays: the rule itself, in blocks, minding the way, and with one piece of that left out."""
    others = ("all that is left", "its root", "the chance")
    return {
        "itself": rule,
        "in blocks": Blocked(rule),
        "Travelling": Travelling(rule, moves, horizon),
        **{f"over {stay}": Charging(rule, moves, horizon, stay) for stay in others},
    }


def costs(rule: Any, price: dict[str, float], horizon: int, problems: int) -> dict[str, list[float]]:
    """Return the regret and the cost of moves of every player on every problem."""
    moves, found = Moves(**price, coordinates=WHERE), {}
    for number in range(problems):
        kernel, noise = KERNELS[number % len(KERNELS)]
        prior = Correlated(kernel=kernel, coordinates=WHERE, noise_variance=noise)
        surface = landscapes.draw(kernel, WHERE, noise_variance=noise, seed=FIRST_SEED + number)
        playing = {name: (policy, prior) for name, policy in players(rule, moves, horizon).items()}
        trace = simulate(playing, surface, horizon, seed=number, moves=moves, progress=False)
        for name in playing:
            found.setdefault(name, []).append(float(trace.total_cost.sel(policy=name).values[0, -1]))
    return found


def measured(horizon: int, problems: int) -> dict[str, Any]:
    """Return all of it as data."""
    rows = []
    for name, rule in {"UCL": UCL(), "Gittins": Gittins(horizon)}.items():
        for price, given in COSTS.items():
            tell(f"{name}, {price}")
            found = costs(rule, given, horizon, problems)
            ours = np.array(found["Travelling"])
            of = {
                who: [float(np.mean(values)), float(np.std(np.array(values) - ours, ddof=1) / np.sqrt(problems))]
                for who, values in found.items()
            }
            rows.append({"rule": name, "cost": price, "total": of})
    return {"horizon": horizon, "problems": problems, "rows": rows}


def table(data: dict[str, Any]) -> str:
    """Return the table of a page: means, and of the difference to Travelling the standard error."""
    who = list(data["rows"][0]["total"])
    lines = [f"| rule | cost of moves | {' | '.join(who)} |", f"|---|---|{'--:|' * len(who)}"]
    for row in data["rows"]:
        cells = [f"{mean:.0f}" + (f" ± {error:.0f}" if error else "") for mean, error in row["total"].values()]
        lines.append(f"| {row['rule']} | {row['cost']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def page(text: str, data: dict[str, Any]) -> str:
    """Return the page with the table."""
    return marked(text, MARK, table(data))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--problems", type=int, default=100)
    parser.add_argument("--horizon", type=int, default=200)
    parser.add_argument("--out", type=Path, help="where moving.json and the page moving.md lie")
    given = parser.parse_args()
    data = measured(given.horizon, given.problems)
    print(table(data))
    if given.out is not None:
        (given.out / DATA).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        text = (given.out / PAGE).read_text(encoding="utf-8")
        (given.out / PAGE).write_text(page(text, data), encoding="utf-8")


if __name__ == "__main__":
    main()
