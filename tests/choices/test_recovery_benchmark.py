"""The benchmark of recovery, small: surfaces are seen again, everything is kept, and the page is made of it."""

import csv
import json

import numpy as np
import pytest
from benchmarks import madeup, recovery
from scipy.stats import kendalltau, spearmanr

import corrbandits as cb
from corrbandits import choices
from tests.support import ROOT, script

RECOVERED = script("docs/recovered.py")
PAGE = (ROOT / "docs" / "groups.md").read_text(encoding="utf-8")
WHERE = cb.landscapes.grid(11, 11).astype(int)
TRIALS = 8
WAYS = {"alone": "each alone", "pooled": "given the population"}
LAST = "temperature"
SIZES = recovery.Sizes(people=3, of_models=1, pool=2, copies=2)


def surface(kind, number):
    kernel = 400 * cb.SquaredExponential(recovery.LENGTHS[kind])
    return cb.landscapes.draw(kernel, WHERE.astype(float), mean=50.0, noise_variance=1.0, seed=10 * kind + number)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Four people on two surfaces each, as a file of the study has them."""
    path = tmp_path_factory.mktemp("study") / "study.csv"
    names = ["id", "scenario", "kernel", "round", "env", "horizon", "scale", "trial", "x", "y", "z"]
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(names)
        for person in range(1, 5):
            kind = person % 2
            met = [surface(kind, env) for env in (0, 1)]
            values = {"length": 0.8 + 0.1 * person, "exploration": 0.4, "temperature": 4.0 + person}
            somebody = choices.simulate(recovery.MODEL, values, met, horizon=TRIALS, seed=person)
            for env, one in enumerate(somebody.rounds):
                for trial, (arm, reward) in enumerate(zip(one.arms, one.rewards, strict=True)):
                    rows.writerow([person, 0, kind, env + 1, env, TRIALS, 70, trial, *WHERE[arm], round(float(reward))])
    return path


def test_surfaces_are_what_all_people_have_seen_of_them(table):
    met = recovery.met(table)
    assert [len(each) for each in met] == [2, 2, 2, 2]
    assert met[0][0] is met[2][0]  # the same surface
    people = recovery.measured_people(table)
    for person, each in zip(people, met, strict=True):
        for one, bandit in zip(person.rounds, each, strict=True):
            assert bandit.means[one.arms] == pytest.approx(one.rewards, abs=4.0)  # noise of deviation 1, and rounding


@pytest.mark.slow
def test_all_of_it_is_measured_kept_and_shown(table, tmp_path, monkeypatch):
    monkeypatch.setattr(madeup, "ROUNDS", 3)
    for module in (madeup, recovery):
        monkeypatch.setattr(module, "HORIZON", 12)
    data = recovery.measured(table, tmp_path, SIZES)
    groups = data["parameters"]["groups"]
    assert {name: np.shape(one["given"]) for name, one in groups.items()} == {
        "population": (3, 3), "own": (4, 3), "spread": (3, 3), "either": (3, 3)
    }  # fmt: skip
    assert all(np.shape(one[way]) == np.shape(one["given"]) for one in groups.values() for way in one if way in WAYS)
    assert [name for name, one in groups.items() if "pooled" in one] == list(madeup.POOLED)
    assert np.shape(data["models"]["evidence"]) == (3, 1, 3)
    assert [np.shape(curves["reward"]) for curves in data["checks"]["curves"].values()] == [(4, TRIALS)] * 2
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    people = recovery.measured_people(table)
    assert madeup.written(madeup.law(people, madeup.STUDY, tmp_path)) == data["parameters"]["law"]
    assert recovery.measured(table, tmp_path, SIZES, only=["checks"]) == {"checks": data["checks"]}
    assert recovery.models(people, SIZES, tmp_path) == data["models"]
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
    assert "| with the values of real people; given the population |" in RECOVERED.report(json.loads(json.dumps(data)))
    assert set(RECOVERED.pictures(data)) == set(RECOVERED.pictures(kept()))


def kept():
    return json.loads((ROOT / "docs" / RECOVERED.DATA).read_text(encoding="utf-8"))


def test_the_page_shows_what_was_found():
    from explorers.pages import written

    assert written(PAGE, RECOVERED.MARK, RECOVERED.report(kept())) == PAGE, "run: python docs/recovered.py"


def test_ranks_on_the_page_are_those_of_what_was_given_and_found():
    """The groups and ways of fitting, by SciPy; an exploration above 0 is fitted as a prior deviation."""
    lines = PAGE.splitlines()
    for name, one in kept()["parameters"]["groups"].items():
        order = [one["names"].index(each) for each in ("length", *{"prior_sd", "exploration"} & {*one["names"]}, LAST)]
        given = np.array(one["given"])[:, order]
        for way, words in WAYS.items():
            if way in one:
                found = np.array(one[way])[:, order]
                cells = [
                    f"{spearmanr(a, b).statistic:.2f} / {kendalltau(a, b).statistic:.2f}"
                    for a, b in zip(given.T, found.T, strict=True)
                ]
                line = next(line for line in lines if line.startswith(f"| {RECOVERED.GROUPS[name]}; {words} |"))
                assert line.endswith(f"| {' | '.join(cells)} |")


def test_the_population_lies_beside_real_people_on_the_page():
    data = kept()["parameters"]
    law, place = data["law"], data["groups"]["population"]["names"].index("length")
    middle = np.exp(law["mean"][place])
    line = next(line for line in PAGE.splitlines() if line.startswith("| length, population |"))
    assert float(line.split("|")[4]) == pytest.approx(middle, rel=0.05)  # two digits
