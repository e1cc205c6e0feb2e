"""How far our rules are from the best possible one, on two and three correlated arms.

    python -m benchmarks.optimal [--quick] [--out docs]

The best possible rule comes from dynamic programming. A rule's regret beyond that of the best one is the mean of what
each of its decisions falls short of the best decision then, over campaigns whose mean rewards are drawn from the prior
that the rule knows. All rules meet the same mean rewards and the same noise.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import DOCS, marked
from benchmarks.timing import tell
from corrbandits import UCL, CorrelatedUCL, GaussianBandit, Gittins, HorizonUCL, KnowledgeGradient, Policy, Thompson
from corrbandits.arena.optimal import Optimum
from corrbandits.belief import Correlated
from corrbandits.simulation.engines.compiled import Compiled
from corrbandits.simulation.engines.protocol import Runs

PAGE, DATA = "optimal.md", "optimal.json"
TWO, THREE = (-0.5, 0.0, 0.5, 0.9), (-0.4, 0.0, 0.5, 0.9)
SEED = 20_161


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.optimal", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="short campaigns, to see that everything works")
    parser.add_argument("--out", type=Path, metavar="DIRECTORY", help="write data and page, such as to docs")
    options = parser.parse_args()
    rows = []
    for row in measured(runs=50 if options.quick else 500, short=options.quick):
        rows.append(row)
        data = {"runs": row.pop("runs"), "rows": rows}
        if options.out:
            (options.out / DATA).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
            text = (DOCS / PAGE).read_text(encoding="utf-8")
            (options.out / PAGE).write_text(page(text, data), encoding="utf-8")
    print(table(data))


def measured(*, runs: int, short: bool) -> Iterator[dict[str, Any]]:
    """Yield one row per prior; `short` makes campaigns of a few decisions."""
    for noise, correlation in itertools.product((1.0, 0.25, 4.0), TWO):
        yield compared(2, 5 if short else 100, correlation, noise, runs, nodes=41 if short else 161)
    for correlation in THREE:
        yield compared(3, 3 if short else 30, correlation, 1.0, runs, nodes=17 if short else 65)


def rules(horizon: int) -> dict[str, Policy]:
    """Return the rules that are compared, each told the prior."""
    return {
        "Gittins": Gittins(horizon),
        "HorizonUCL": HorizonUCL(horizon),
        "KnowledgeGradient": KnowledgeGradient(horizon),
        "UCL": UCL(a=1.0),
        "CorrelatedUCL": CorrelatedUCL(a=1.0),
        "Thompson": Thompson(),
    }


def compared(arms: int, horizon: int, correlation: float, noise: float, runs: int, nodes: int) -> dict[str, Any]:
    """Return the least possible regret on one prior, and how much more each rule loses."""
    tell(f"{arms} arms, {horizon} decisions, correlation {correlation:g}, noise variance {noise:g}")
    covariance = (1 - correlation) * np.eye(arms) + correlation
    prior = Correlated(mean=0.0, covariance=covariance, noise_variance=noise)
    best = Optimum(prior, horizon, nodes)
    means = prior.draws(np.random.default_rng(SEED), runs).T
    excess = {}
    for name, rule in rules(horizon).items():
        lost = best.excess(*played(rule, prior, means, horizon)).sum(axis=1)
        excess[name] = [float(lost.mean()), float(lost.std(ddof=1) / runs**0.5)]
    return {
        "arms": arms, "horizon": horizon, "correlation": correlation, "noise_variance": noise, "runs": runs,
        "regret": best.regret, "least": best.most - best.high, "most": best.most - best.low, "excess": excess,
    }  # fmt: skip


def played(rule: Policy, prior: Correlated, means: np.ndarray, horizon: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the arms that a rule takes and the rewards it sees, a run for each row of mean rewards."""
    arms, rewards = np.empty((2, len(means), horizon))
    for run, truth in enumerate(means):
        runs = Runs(rule, prior, GaussianBandit(truth, prior.noise_variance), horizon, SEED, run, run + 1)
        into = runs.room()
        Compiled().play(runs, into, lambda _: None)
        arms[run], rewards[run] = into["arms"][0], into["rewards"][0]
    return arms.astype(np.int64), rewards


def table(data: dict[str, Any]) -> str:
    """Return what was measured as a table in Markdown."""
    names = list(data["rows"][0]["excess"])
    lines = [
        f"| arms | decisions | correlation | noise variance | least possible regret | {' | '.join(names)} |",
        f"|--:|--:|--:|--:|--:|{'--:|' * len(names)}",
    ]
    for row in data["rows"]:
        known = f"{row['regret']:.3f} ({row['least']:.3f} to {row['most']:.3f})"
        shares = [f"{_share(*row['excess'][name], row['regret'])}" for name in names]
        setting = f"{row['arms']} | {row['horizon']} | {row['correlation']:g} | {row['noise_variance']:g}"
        lines.append(f"| {setting} | {known} | {' | '.join(shares)} |")
    return "\n".join([*lines, "", f"Means of {data['runs']:,} campaigns a row; ± is a standard error."])


def _share(mean: float, error: float, regret: float) -> str:
    return f"+{100 * mean / regret:.1f} ± {100 * error / regret:.1f} %"


def page(text: str, data: dict[str, Any]) -> str:
    """Return the documentation's page with its table made anew."""
    return marked(text, "optimum", table(data))


if __name__ == "__main__":
    main()
