"""Whether what is said of chances and costs is true, on the problems of the arena: a table, a figure, and their data.

The recommended rule plays each problem, told nothing. Statements are added to a folder, those of a problem as soon as
it was played, and none is made again, so that the same command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import kept
from benchmarks.families import problem_of
from benchmarks.timing import tell
from corrbandits.arena.calibration import LOSS, TIMES, Statement, statements
from corrbandits.arena.campaign import Campaign
from corrbandits.arena.fields import families
from corrbandits.arena.problems import FAMILIES, VERSION, Make
from corrbandits.arena.reliability import apart, demands, summary
from corrbandits.arena.results import Results
from corrbandits.policies import Gittins

DOCS = Path(__file__).parents[1] / "docs"
FILE = "statements.csv"
WHENS = (*map(str, TIMES), "enough")
ENDS, TICKS = (0.05, 5.0), (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""Of the axes of costs."""

FEWER = 8
"""Real fields have so many times fewer problems, but at least one: they are reported apart, and each is one surface."""

FEWEST = 5
"""Families with fewer statements are not shown: their mean is chance."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--results", type=Path, metavar="DIRECTORY", required=True, help="where statements are kept")
    parser.add_argument("--seed", type=int, help="that of a new folder; drawn if left out")
    parser.add_argument("--families", nargs="+", default=list(FAMILIES), choices=list(FAMILIES), metavar="FAMILY")
    parser.add_argument(
        "--fields",
        type=Path,
        metavar="DIRECTORY",
        help=f"real fields too, with 1/{FEWER} as many problems: CSV files of x, y and yields",
    )
    parser.add_argument("--problems", type=int, default=400, help="of each family, of many arms fewer (400)")
    parser.add_argument("--jobs", type=int, default=1, help="problems at the same time (1)")
    parser.add_argument("--out", type=Path, default=DOCS, help="where calibration.json and .png go (docs)")
    options = parser.parse_args(arguments)
    if options.problems < 1 or options.jobs < 1:
        parser.error("--problems and --jobs must be whole numbers from 1.")
    try:
        results = Results(options.results, options.seed)
        known = {(one.family, one.number) for one in read(options.results / FILE)}
        fields = families(options.fields) if options.fields else {}
    except ValueError as error:
        parser.error(str(error))
    wanted = asked({name: FAMILIES[name] for name in options.families}, options.problems)
    wanted += asked(fields, -(-options.problems // FEWER))
    try:
        added(results, [one for one in wanted if one not in known], options.jobs, options.fields)
    except KeyboardInterrupt:
        tell(f"Stopped. What was said is in {results.directory}; the same command goes on from there.")
        return 130
    some = set(wanted)
    said = [one for one in read(options.results / FILE) if (one.family, one.number) in some]
    data = report(said, results.seed)
    write(data, options.out)
    print(table(data))
    return 0


def asked(makes: Mapping[str, Make], problems: int) -> list[tuple[str, int]]:
    """Return the problems that statements are to be made of, by family and number.

    >>> asked({"chain": FAMILIES["chain"], "large grid": FAMILIES["large grid"]}, 3)
    [('chain', 0), ('large grid', 0), ('chain', 1), ('large grid', 1), ('chain', 2)]
    """
    return [(part.family, part.number) for part in Campaign(makes, [max(TIMES)], problems).parts()]


def read(place: Path) -> list[Statement]:
    """Return the statements of a file, those of each problem once."""
    found: dict[tuple[str, int, str], Statement] = {}
    for line, row in enumerate(kept.read(place, Statement._fields), start=2):
        try:
            one = _read(row)
        except ValueError:
            raise ValueError(f"{place}, line {line}: expected a statement, got {','.join(row)!r:.80}.") from None
        found.setdefault((one.family, one.number, one.when), one)
    return list(found.values())


def _read(row: list[str]) -> Statement:
    family, number, when, t, probability, best, cost, true_cost, covered, best_covered, score, informed = row
    costs = float(probability), best == "True", float(cost), float(true_cost)
    return Statement(
        family, int(number), when, int(t), *costs, float(covered), best_covered == "True", float(score), float(informed)
    )


def added(results: Results, wanted: Sequence[tuple[str, int]], jobs: int, folder: Path | None) -> None:
    """Add the statements of these problems, those of each at once."""
    work = [(family, number, results.seed, folder) for family, number in wanted]
    kept.added(results.directory / FILE, Statement._fields, work, said_of, jobs)


def said_of(work: tuple[str, int, int, Path | None]) -> list[Statement]:
    """Return what is said of one problem, of a family or of a field in a folder."""
    family, number, seed, folder = work
    given = problem_of(family, seed, number, folder)
    return list(statements(given, number, Gittins(max(TIMES))))


def report(said: Sequence[Statement], seed: int) -> dict[str, Any]:
    """Return what all statements amount to: together, each family, and those that are reported apart."""
    together = [one for one in said if not apart(one.family)]
    problems = Counter(family for family, _ in {(one.family, one.number) for one in said})

    def by_time(some: Iterable[Statement]) -> dict[str, Any]:
        chosen = list(some)
        at = {when: [one for one in chosen if one.when == when] for when in WHENS}
        return {when: summary(those, problems) for when, those in at.items() if those}

    return {
        "problems": VERSION,
        "seed": seed,
        "loss": LOSS,
        "together": by_time(together),
        "families": {
            name: by_time(one for one in said if one.family == name)
            for name in dict.fromkeys(one.family for one in said)
        },
    }


def table(data: dict[str, Any]) -> str:
    """Return the report as text."""
    heads = "rewards problems  cost said   true        ratio  covered   best   score  informed"
    lines = [heads]
    for when, one in data["together"].items():
        ratio = ratio_in_words(one)
        lines.append(
            f"{when:8}{one['statements']:9,}{one['cost']:11.3f}{one['true_cost']:7.3f}{ratio:>13}{one['covered']:9.3f}"
            f"{one['best_covered']:7.3f}{one['score']:8.3f}{one['informed_score']:10.3f}"
        )
    for when, one in data["together"].items():
        cells = (f"{b['probability']:.2f}: {b['frequency']:.2f} ± {b['error']:.2f}" for b in one["bins"])
        lines.append(f"{when:8}said: came true   {'   '.join(cells)}")
        lines += [f"{when:8}NOT MET: {demand}" for demand, met in demands(one).items() if not met]
    for name, times in data["families"].items():
        ratios = "   ".join(f"{when}: {ratio_in_words(one)}, {one['covered']:.2f}" for when, one in times.items())
        lines.append(f"{name:26}said / true cost, covered   {ratios}{'   (apart)' * apart(name)}")
    return "\n".join(lines)


def ratio_in_words(found: dict[str, Any]) -> str:
    """Return the stated over the true cost with its standard error."""
    return "-" if found["cost_ratio"] is None else f"{found['cost_ratio']:.2f} ± {found['cost_ratio_error']:.2f}"


def write(data: dict[str, Any], directory: Path) -> None:
    """Write the data and the figure."""
    text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "calibration.json").write_text(text + "\n", encoding="utf-8")
    figure(data, directory / "calibration.png")


def figure(data: dict[str, Any], place: Path) -> None:
    """Draw stated probabilities against frequencies, and stated costs against true ones, family by family."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    whens = list(data["together"])
    drawn, axes = plt.subplots(2, len(whens), figsize=(3.1 * len(whens), 6.2), squeeze=False, layout="constrained")
    for place_, when in enumerate(whens):
        _reliability(axes[0, place_], data["together"][when], _title(when, data))
        _costs(axes[1, place_], {name: one[when] for name, one in data["families"].items() if when in one})
    axes[0, 0].set_ylabel("frequency")
    axes[1, 0].set_ylabel("true cost of stopping")
    drawn.savefig(place, dpi=130)
    plt.close(drawn)


def _title(when: str, data: dict[str, Any]) -> str:
    return f"said to cost ≤ {data['loss']:g}" if when == "enough" else f"after {when} rewards"


def _reliability(ax: Any, found: dict[str, Any], title: str) -> None:
    ax.fill_between([0, 1], [-0.05, 0.95], [0.05, 1.05], color="0.9", lw=0)
    ax.plot([0, 1], [0, 1], color="0.6", lw=1)
    x, y, error = ([one[key] for one in found["bins"]] for key in ("probability", "frequency", "error"))
    ax.errorbar(x, y, yerr=[2 * e for e in error], fmt="o", ms=4, color="C0", capsize=2)
    ax.set(xlim=(0, 1), ylim=(0, 1), title=title, xlabel="stated probability of being best", aspect="equal")


def _costs(ax: Any, by_name: dict[str, Any]) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    ax.fill_between(ENDS, [x / 1.15 for x in ENDS], [x / 0.85 for x in ENDS], color="0.9", lw=0)
    ax.plot(ENDS, ENDS, color="0.6", lw=1)
    for name, one in by_name.items():
        style = {"color": "C1", "mfc": "none"} if apart(name) else {"color": "C0"}
        x, y, error = one["cost"], one["true_cost"], 2 * one["true_cost_error"]
        if one["statements"] >= FEWEST:
            below = min(error, 0.9 * y)  # a logarithm has no room below 0
            ax.errorbar(x, y, yerr=[[below], [error]], fmt="o", ms=4, lw=1, **style)
    ax.set(xscale="log", yscale="log", xlim=ENDS, ylim=ENDS, xlabel="stated cost of stopping", aspect="equal")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(FixedLocator(TICKS))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_locator(NullLocator())


if __name__ == "__main__":
    raise SystemExit(main())
