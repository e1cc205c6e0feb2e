"""What was found: every number recomputed from the CSV by other means."""

import csv
import io
import math
import re

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import stress
from corrbandits.paper import reproduction as paper
from corrbandits.stress.settings import AS_GIVEN
from tests.support.stress_cases import SURFACE, stressed


def table_of(test, column="mean"):
    rows = list(csv.DictReader(io.StringIO(test.to_csv())))
    last = max(int(row["time"]) for row in rows)
    return {
        (row["candidate"], row["kind"], *(float(row[n]) for n in ("accuracy", "confidence", "length"))): float(
            row[column]
        )
        for row in rows
        if int(row["time"]) == last
    }


def crossings(points, start, level, log=False):
    """Return where straight lines between points cross a level nearest to the start, below and above it."""
    xs, ys = map(np.array, zip(*sorted(points.items()), strict=True))
    at = np.log(xs) if log else xs
    found = []
    for k in range(len(xs) - 1):
        if (ys[k] > level) != (ys[k + 1] > level):
            x = np.interp(level, *zip(*sorted([(ys[k], at[k]), (ys[k + 1], at[k + 1])]), strict=True))
            found.append(float(np.exp(x)) if log else float(x))
    return max((x for x in found if x <= start), default=None), min((x for x in found if x > start), default=None)


def recomputed(test):
    """Return the findings again, by other means."""
    table = table_of(test)
    kind, main = test.data.attrs["default_kind"], test.data.attrs["candidate"]
    level = {mean for key, mean in table.items() if key[0] == "uninformative"}
    assert len(level) == 1
    (level,) = level
    given = table[main, kind, AS_GIVEN[kind], 1.0, 1.0]
    found = {"uninformative": level, "given": given, "saving": level - given, "share": (level - given) / level}
    for factor in {key[1] for key in table}:
        points = {key[2]: mean for key, mean in table.items() if key[:2] == (main, factor) and key[3:] == (1.0, 1.0)}
        points[AS_GIVEN[factor]] = given
        found[f"{factor}_low"], found[f"{factor}_high"] = crossings(points, AS_GIVEN[factor], level)
        found[f"{factor}_tried"] = min(points), max(points)
    for place, factor in ((3, "confidence"), (4, "length")):
        other = 7 - place
        points = {
            key[place]: mean
            for key, mean in table.items()
            if key[:3] == (main, kind, AS_GIVEN[kind]) and key[other] == 1.0
        }
        best = min(points, key=points.get)
        found[f"{factor}_best"], found[f"{factor}_tried"] = best, (min(points), max(points))
        low, high = crossings(points, 1.0 if points[1.0] <= level else best, level, log=True)
        safe = points[best] <= level
        found[f"{factor}_low"] = (low or min(points)) if safe else None
        found[f"{factor}_high"] = (high or max(points)) if safe else None
        by = {mean for key, mean in table.items() if key[0] == "independent"}
        assert len(by) == 1
        (found["independent"],) = by
        low, high = crossings(points, 1.0 if points[1.0] <= min(by) else best, min(by), log=True)
        safe = points[best] <= min(by)
        found[f"independent_{factor}_low"] = (low or min(points)) if safe else None
        found[f"independent_{factor}_high"] = (high or max(points)) if safe else None
    (found["vague"],) = {mean for key, mean in table.items() if key[0] == "vague"}
    if "printed" in {key[0] for key in table}:
        apart = [mean - table["plain", *key[1:]] for key, mean in table.items() if key[0] == "printed"]
        found |= {"printed_excess": max(apart), "plain_excess": max(-x for x in apart)}
    accuracies = {key[2] for key in table if key[1] == kind}
    options = {}
    for key in table:
        if key[0] in ("printed", "plain") and key[1] == kind:
            row = [table.get((key[0], kind, a, *key[3:])) for a in accuracies]
            if None not in row:
                options[key[0], *key[3:]] = max(row)
    found["safest_worst"] = min(options.values())
    found["safest_candidate"], found["safest_confidence"], found["safest_length"] = min(options, key=options.get)
    at = {key[1:] for key in table if key[0] == "elimination"}
    for name, column in (("given", "fixed"), ("elimination", "elimination"), ("refitting", "refitting")):
        found[f"corners_{name}"] = max((table[column, *c] for c in at if (column, *c) in table), default=None)
    for name in ("elimination", "refitting"):
        others = sorted(at, key=lambda c: table["fixed", *c])[:-1]
        pairs = [(table[name, *c], table["fixed", *c]) for c in others if (name, *c) in table]
        found[f"corners_{name}_more"] = max((x - y for x, y in pairs if x > y and x - y > 0.02 * x), default=None)
    found["one_mean"] = table.get((main, "scale", 0.0, 1.0, 1.0))
    found["means_save"] = None if found["one_mean"] is None else found["one_mean"] - given
    given_at = (main, kind, AS_GIVEN[kind])
    steps = table_of(test, "initial")
    found["initial"] = steps[*given_at, 1.0, 1.0]
    for factor, at_factor in (("confidence", lambda x: (x, 1.0)), ("length", lambda x: (1.0, x))):
        found[f"{factor}_initial"] = tuple(steps[*given_at, *at_factor(x)] for x in found[f"{factor}_tried"])
        found[f"{factor}_best_initial"] = steps[*given_at, *at_factor(found[f"{factor}_best"])]
    for column in ("surfaces", "better"):
        found[column] = int(table_of(test, column)[*given_at, 1.0, 1.0])
    return found


def same_numbers(found, expected):
    for name, value in expected.items():
        assert found[name] == (pytest.approx(value, rel=1e-9) if not isinstance(value, str | None) else value), name


def numbers_in(sentences):
    return [float(text.replace(",", "")) for text in re.findall(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?", " ".join(sentences))]


def three_digits(x):
    return float(f"{x:.3g}")


def sayable(test, found):
    """Return every number that may be said: findings, in the prior's units too, times and the number of corners."""
    about, numbers = test.data.attrs, []
    for value in found.values():
        values = value if isinstance(value, tuple) else (value,)
        numbers += [x for x in values if isinstance(x, float | int)]
    units = [1.0, 100.0, about.get("variance", 1.0), about.get("assumed_length", 1.0)]
    said = {three_digits(sign * x * unit) for x in numbers for unit in units for sign in (1, -1)}
    return said | {float(t) for t in test.data["time"].values} | {4.0, 0.0}


@pytest.mark.parametrize("name", ["good", "bad", "whole"])
def test_every_number_in_the_sentences_is_recomputed_from_the_csv(name, request):
    test = request.getfixturevalue(name)
    expected = recomputed(test)
    same_numbers(test.findings(), expected)
    level = expected["independent"]
    beside = {"mean": SURFACE.means.mean(), "deviation": SURFACE.means.std(), "arms": SURFACE.arms}
    nothing = (expected["vague"] - expected["given"]) / expected["given"]
    apart = {"share beside": (level - expected["given"]) / level, "share of who is told nothing": nothing}
    allowed = sayable(test, expected | beside | apart)
    said = numbers_in(test.sentences())
    assert len(said) > 15
    for number in said:
        assert number in allowed, (number, test.sentences())


@pytest.mark.parametrize("kind", ["noise", "swap", "scale"])
def test_the_kind_in_the_grids_may_be_another(kind):
    test = stressed(kinds=[kind, "shift"], horizon=30, seed=1)
    assert test.data.attrs["default_kind"] == kind
    same_numbers(test.findings(), recomputed(test))


def test_the_band_is_the_t_interval_of_the_mean(whole):
    from scipy.stats import t

    for row in (*whole.rows[:: len(whole.rows) // 20], whole.rows[-1]):
        data = whole.data
        chosen = np.logical_and.reduce(
            [data[n].values == getattr(row, n) for n in ("kind", "accuracy", "confidence", "length")]
        )
        held = row.candidate == "fixed"
        values = data["regret"].sel(candidate="printed" if held else row.candidate, time=row.time).values[chosen][0]
        beside = data["regret"].sel(candidate="elimination", time=row.time).values[chosen][0]
        values = values[~np.isnan(beside if held else values)]
        assert (row.runs, row.mean) == (len(values), pytest.approx(values.mean()))
        error = values.std(ddof=1) / math.sqrt(len(values))
        low, high = t.interval(0.95, len(values) - 1, values.mean(), error) if error else (row.mean, row.mean)
        assert (row.low, row.high) == pytest.approx((low, high))


def test_opposite_problems_yield_opposite_sentences(good, bad):
    one, other = good.sentences(), bad.sentences()
    assert one[0].startswith("Your prior helps")
    assert other[0].startswith("Your prior hurts")
    assert one[1].endswith("% less.")
    assert other[1].endswith("% more.")
    assert one[4].startswith("It helps at every time")
    assert other[4].startswith("It hurts")


def test_on_the_papers_problem_the_sentences_agree_with_the_paper():
    """Figures 1 and 2: both correlated priors beat the uninformative one, the well-informed more; swapped it hurts."""
    surface, rule = cb.landscapes.two_peaks(), cb.CorrelatedUCL(a=paper.A)
    few = {"kinds": ["swap", "shift"], "accuracy": [0.0, 0.5, 1.0], "length": [0.1, 1.0, 3.0], "confidence": [1.0],
           "runs": 8, "survivors": False}  # fmt: skip
    high = np.where(surface.means > paper.HIGH_REGION, paper.HIGH_MEAN, paper.LOW_MEAN)
    kernel = paper.PRIOR_VARIANCE * cb.Exponential(paper.WELL_INFORMED_LENGTH)
    well = stress.run(rule, surface, 1_000, mean=high, kernel=kernel, **few)
    kernel = paper.PRIOR_VARIANCE * cb.Exponential(paper.ILL_INFORMED_LENGTH)
    ill = stress.run(rule, surface, 1_000, mean=paper.UNIFORM_MEAN, kernel=kernel, **few)
    safe = "Your prior helps, and is safe unless its high and low regions are swapped by more than"
    assert well.sentences()[0].startswith(safe)
    assert ill.sentences()[0].startswith("Your prior helps")
    assert "prefer the printed index" in ill.sentences()[0]
    assert 0 < ill.findings()["share"] < well.findings()["share"]
    assert ill.findings()["length_low"] > 0.1, "an ill-informed prior needs its correlations"
    assert any("all alike" in sentence for sentence in ill.sentences())


def test_of_a_family_it_is_said_on_how_many_surfaces_the_prior_helps():
    opposite = cb.GaussianBandit(2 * SURFACE.means.mean() - SURFACE.means, 4.0, SURFACE.coordinates)
    family, few = [SURFACE, SURFACE, opposite, SURFACE, opposite], {"kinds": ["shift"], "accuracy": [0.0]}
    test = stressed(truth=family, kernel=0.2 * cb.Exponential(2.0), runs=13, horizon=300, **few)
    regret, surface = test.data["regret"].sel(time=300), test.data["surface"].values
    assert surface.tolist() == [run % 5 for run in range(13)]
    mine = regret.sel(candidate="printed").values[[given_at(test)]][0]
    flat = regret.sel(candidate="uninformative").values[0]
    helps = sum(mine[surface == k].mean() < 0.98 * flat[surface == k].mean() for k in range(5))
    assert f"Of 5 surfaces that were met, it helps on {helps}." in test.sentences()
    assert helps == 3
    same_numbers(test.findings(), recomputed(test))


def given_at(test):
    data = test.data
    chosen = (data["accuracy"].values == 0) & (data["confidence"].values == 1) & (data["length"].values == 1)
    return int(np.flatnonzero(chosen)[0])
