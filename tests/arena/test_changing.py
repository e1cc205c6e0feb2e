"""Problems whose mean rewards change: their law in time, who plays them, and that they stand apart."""

import math

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.arena import changing
from corrbandits.arena.campaign import Campaign, run
from corrbandits.arena.contestants import (
    DEFAULT,
    DISCOUNT,
    EVERYTHING,
    LITTLE_TOLD,
    NOTHING,
    WINDOW,
    Contestant,
    on_change,
)
from corrbandits.arena.playing import play, play_step_by_step
from corrbandits.arena.problems import FAMILIES, problem
from corrbandits.arena.results import Game, Results
from corrbandits.arena.sentences import sentences
from corrbandits.arena.standings import ALL, CHANGES, RECORDS, standings


def of(family, number=0, seed=3):
    return problem(f"changing {family}", seed, number, changing.FAMILIES)


def autocorrelation(family, share, number=300):
    """Return the correlation of mean rewards a share of the scale apart, over many problems."""
    products, squares = [], []
    for k in range(number):
        given = of(family, k)
        lag = max(round(share * given.change.scale), 1)
        path = (given.change.path(lag + 1) - given.mean) / given.scale
        products.append((path[0] * path[lag]).mean())
        squares.append((np.square(path[0]) + np.square(path[lag])).mean() / 2)
    return np.mean(products) / np.mean(squares)


@pytest.mark.parametrize("family", ["drift", "switches", "seasons"])
def test_after_the_scale_37_percent_is_left(family):
    """49 correlated arms of 300 problems: an error of 0.05 or so."""
    assert autocorrelation(family, 1.0) == pytest.approx(math.exp(-1), abs=0.12)
    shorter = math.exp(-0.5) if family != "seasons" else math.cos(math.pi * changing.QUARTER)
    assert autocorrelation(family, 0.5) == pytest.approx(shorter, abs=0.12)


@pytest.mark.parametrize("family", ["drift", "switches", "seasons"])
def test_a_problem_and_its_path_follow_from_family_seed_and_number(family):
    one, again, other = of(family), of(family), of(family, 1)
    np.testing.assert_array_equal(one.change.path(60), again.change.path(60))
    assert one.stream == again.stream != other.stream
    assert one.change.scale != other.change.scale
    assert 10 <= one.change.scale <= 1_000
    assert one.environment(60).path.shape == (60, 49)
    np.testing.assert_array_equal(one.means, one.change.path(1)[0])


def test_everybody_is_told_what_they_are_to_be_told():
    given = of("drift")
    told = {one.told: one.belief(given, 200) for one in on_change(200)}
    assert isinstance(told[EVERYTHING], cb.Drifting)
    assert told[EVERYTHING].scales.tolist() == [given.change.scale]
    assert told[NOTHING].prior_arguments()["drift"] is True
    assert isinstance(told[LITTLE_TOLD], cb.Vague)
    assert not told[LITTLE_TOLD].changes
    assert isinstance(told[WINDOW], cb.Windowed)
    assert isinstance(told[DISCOUNT], cb.Discounted)
    for belief in told.values():
        assert belief.arms == 49
    assert cb.recommend(told[NOTHING], 200).policy == DEFAULT.policy(200)


def test_regret_is_against_the_best_arm_of_each_time():
    given, taken = of("switches"), []

    class First:
        def choose(self):
            taken.append(0)
            return 0

        def tell(self, arm, reward):
            pass

        def best(self):
            return 5

    outcome = play_step_by_step(given, First(), 40)
    path = given.change.path(40)
    assert outcome.regret == pytest.approx((path.max(axis=1) - path[:, 0]).sum() / given.scale)
    assert outcome.simple_regret == pytest.approx((path[-1].max() - path[-1, 5]) / given.scale)
    assert play(given, cb.Uniform(), given.told_everything(), 40).regret > 0


def test_they_stand_apart_from_the_families_that_do_not_change():
    def games(family, regret):
        return [
            Game(family, k, 50, "Gittins", told, regret + k, 0.1, 1e-5)
            for k in range(4)
            for told in (NOTHING, EVERYTHING, *((LITTLE_TOLD,) if family.startswith("changing") else ()))
        ]

    alone = standings(games("chain", 5.0))
    rows = standings([*games("chain", 5.0), *games("changing drift", 50.0), *games("series roads", 20.0)])
    assert repr([row for row in rows if row.family in (ALL, "chain")]) == repr(alone)  # NaN does not equal itself
    assert {row.family for row in rows} == {ALL, "chain", CHANGES, "changing drift", RECORDS, "series roads"}
    found = {(row.family, row.told): row.regret for row in rows}
    assert found[CHANGES, NOTHING] == pytest.approx(51.5)
    said = " ".join(sentences(rows))
    assert "over 1 changing family" in said
    assert "over 1 recorded series" in said
    assert "taking mean rewards for constant, it loses" in said
    assert "nan" not in " ".join(sentences(standings(games("changing drift", 50.0)[:3])))  # one problem


def test_earlier_games_stay_as_they_are(tmp_path):
    """Families were added, none has changed: the problems of before are those of now, and their folders go on."""
    assert len(FAMILIES) == 16
    assert not FAMILIES.keys() & changing.FAMILIES.keys()
    results = Results(tmp_path, seed=7)
    results.see_fields({name: make.digest for name, make in changing.FAMILIES.items()})
    with pytest.raises(ValueError, match="has changed since"):
        Results(tmp_path).see_fields({"changing drift": "another"})


def write(path, table, places=None):
    heads = ["x,y"] * (places is not None) + [f"h{t}" for t in range(table.shape[1])]
    rows = [",".join([*(map(str, place) if places is not None else ()), *map(str, row)])
            for place, row in zip(places if places is not None else table, table, strict=True)]  # fmt: skip
    path.write_text("\n".join([",".join(heads), *rows]) + "\n")


def test_recorded_series_are_played(tmp_path):
    rng = np.random.default_rng(1)
    path = cb.series.drift(np.eye(6), steps=80, scale=12.0, noise_variance=1.0, seed=1).path
    write(tmp_path / "roads.csv", path.T, rng.random((6, 2)))
    write(tmp_path / "nowhere.csv", path.T)
    found = changing.recorded(tmp_path)
    assert list(found) == ["series nowhere", "series roads"]
    assert 4 < found["series roads"].scale < 40
    given = problem("series roads", 3, 0, found)
    rows = given.environment(30).path
    assert any(np.allclose(np.sort(rows[0]), np.sort(path[t])) for t in range(51))
    campaign = Campaign(found, (30, 200), 2)
    assert {part.horizon for part in campaign.parts()} == {30}  # there are no 200 times
    results = Results(tmp_path / "games", seed=7)
    run(campaign, results, threads=1, progress=False)
    assert {game.family for game in results.games()} == set(found)
    assert Contestant("Gittins", NOTHING) in {Contestant(game.rule, game.told) for game in results.games()}


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "h0,h1\n1,x\n2,3\n"])
def test_what_is_no_series_is_refused(tmp_path, text):
    (tmp_path / "roads.csv").write_text(text)
    with pytest.raises(ValueError, match=r"roads\.csv"):
        changing.recorded(tmp_path)
    with pytest.raises(ValueError, match="series must be a folder"):
        changing.recorded(tmp_path / "none")
