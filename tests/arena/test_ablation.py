"""The default with one piece changed: what changes, and what is said of it."""

import doctest

import numpy as np
import pytest
from benchmarks import ablation, families
from benchmarks.variants import (
    AnywhereFirst,
    LookAhead,
    OnMoments,
    OnQuantiles,
    SpreadOut,
    TellingFirst,
    Wider,
    WithoutDoubt,
)

from corrbandits import Correlated, Exponential, Gittins, HorizonUCL, Vague
from corrbandits.arena.problems import FAMILIES
from corrbandits.belief.vague.opening import in_order
from tests.support import ROOT


def told_everything():
    """Return a belief whose only part is normal: all that variants do otherwise falls away."""
    prior = Vague(coordinates=range(6), mean=3.0, sd=2.0, length=2.0, noise_sd=1.0, site=0.0, kernel="exponential")
    return prior.observe([0, 5, 5], [4.0, 2.0, 2.5])


@pytest.mark.parametrize(
    ("variant", "limit"),
    [(OnMoments, Gittins), (WithoutDoubt, Gittins), (OnQuantiles, HorizonUCL)],
)
@pytest.mark.parametrize("t", [4, 19, 40])
def test_where_nothing_is_unknown_a_variant_is_the_rule_it_varies(variant, limit, t):
    belief = told_everything()
    np.testing.assert_allclose(variant(40).index(belief, t), limit(40).index(belief, t), rtol=1e-9)


@pytest.mark.parametrize("variant", [OnMoments, WithoutDoubt, OnQuantiles, Wider, LookAhead])
def test_in_the_opening_and_told_nothing_variants_choose(variant):
    prior = Vague(coordinates=range(6))
    assert np.isinf(variant(40).index(prior, 1)).all()
    later = prior.observe([0, 1, 2, 3, 5], [1.0, 4.0, 2.0, 3.0, 7.0])
    assert not np.isnan(variant(40).index(later, 6)).any()
    assert not np.allclose(variant(40).index(later, 6), Gittins(40).index(later, 6))


def test_as_many_spread_out_arms_come_first_as_were_asked_for():
    belief, rng = Vague(coordinates=range(50)), np.random.default_rng(1)
    order, _ = in_order(belief.parts.places(), 50)
    for t in range(1, 8):
        arm = SpreadOut(40).choose(belief, t)
        assert arm == order[t - 1]
        belief = belief.observe(arm, rng.standard_normal())
    np.testing.assert_array_equal(SpreadOut(40).index(belief, 8), Gittins(40).index(belief, 8))


def test_first_arms_that_tell_most_leave_the_least_variance():
    where = np.array([0.0, 1.0, 2.0, 3.5, 5.0, 7.0, 8.0])
    told = Vague(coordinates=where, mean=3.0, sd=2.0, length=2.0, noise_sd=1.0, site=0.0, kernel="exponential")
    known = Correlated(mean=3.0, kernel=4 * Exponential(2.0), coordinates=where, noise_variance=1.0)
    order = TellingFirst(40, most=3).order(told, told.coordinates)
    for arm in order:
        left = [known.observe(other, 0.0).variance.sum() for other in range(where.size)]
        assert arm == np.argmin(left)
        known = known.observe(arm, 0.0)
    belief = Vague(coordinates=where)
    assert TellingFirst(40).choose(belief, 1) == TellingFirst(40).order(belief, belief.coordinates)[0]


def test_first_arms_may_lie_anywhere_on_each_problem_elsewhere():
    places, rng, looked = np.arange(50.0), np.random.default_rng(1), []
    for _ in range(6):
        belief, arms = Vague(coordinates=rng.permutation(places)), []
        for t in range(1, 5):
            arms.append(AnywhereFirst(40).choose(belief, t))
            belief = belief.observe(arms[-1], rng.standard_normal())
        where = belief.coordinates[arms, 0]
        assert np.ptp(where) > 23  # Sobol points: one in each quarter
        looked.append(tuple(where))
        np.testing.assert_array_equal(AnywhereFirst(40).index(belief, 5), Gittins(40).index(belief, 5))
    assert len(set(looked)) > 1


def test_looking_ahead_is_worth_what_playing_so_brings():
    belief, m, rng = told_everything(), 9, np.random.default_rng(3)
    drawn, noise = belief.draws(rng, 20_000), rng.standard_normal((m, 20_000))
    found = LookAhead(40, among=2).index(belief, 41 - m)
    assert np.isfinite(found).sum() == 2
    for arm in np.flatnonzero(np.isfinite(found)):
        row, variance = belief.covariance_with(int(arm)), belief.variance[arm]
        brings = []
        for k in (1, 2, 3, 4, 5, 6, 8):
            average = drawn[arm] + noise[:k].mean(axis=0)
            means = belief.mean[:, None] + np.outer(row, average - belief.mean[arm]) / (variance + 1 / k)
            taken = np.take_along_axis(drawn, means.argmax(axis=0)[None], axis=0)[0]
            brings.append(k * drawn[arm] + (m - k) * taken)
        means, errors = np.mean(brings, axis=1), np.std(brings, axis=1) / np.sqrt(20_000)
        assert abs(found[arm] - means.max()) < 4 * errors.max()


def test_the_command_goes_on_where_it_was_stopped(tmp_path, capsys):
    options = ["--results", str(tmp_path), "--families", "chain", "--horizons", "12", "--variants", "24 parts"]
    assert ablation.main([*options, "--problems", "1"]) == 0
    first = (tmp_path / ablation.FILE).read_text()
    (tmp_path / ablation.FILE).write_text(first + "24 parts,chain,1,12")  # whoever wrote this was killed
    assert ablation.main([*options, "--problems", "2"]) == 0
    assert (tmp_path / ablation.FILE).read_text().startswith(first)
    games = ablation.read(tmp_path / ablation.FILE)
    assert sorted(game[:4] for game in games) == [
        (variant, "chain", number, 12) for variant in ("24 parts", ablation.DEFAULT) for number in (0, 1)
    ]
    assert "| 12 | 24 parts | 2 |" in capsys.readouterr().out


def test_ratios_are_of_the_same_problems_and_families_count_the_same():
    games = [
        ablation.Game(variant, family, number, 200, regret * (1 + number))
        for family, factor in (("chain", 2.0), ("trend", 8.0))
        for variant, regret in ((ablation.DEFAULT, 1.0), ("24 parts", factor))
        for number in range(3 if family == "chain" else 30)
    ]
    games.append(ablation.Game("24 parts", "chain", 99, 200, 1e9))  # the default did not play this one
    (row,) = ablation.compared(games)
    assert row["ratio"] == pytest.approx(4.0)
    assert (row["worst"], row["family"]) == (pytest.approx(8.0), "trend")


def test_real_fields_are_compared_apart(tmp_path, capsys):
    folder, rng = tmp_path / "fields", np.random.default_rng(0)
    folder.mkdir()
    rows = "\n".join(f"{k % 5},{k // 5},{value:.3f}" for k, value in enumerate(rng.standard_normal(25)))
    (folder / "meadow.csv").write_text(f"x,y,yield\n{rows}\n")
    options = ["--results", str(tmp_path), "--fields", str(folder), "--horizons", "6", "--problems", "2"]
    both = ["--families", "chain", "field meadow"]
    assert ablation.main([*options, *both, "--variants", "24 parts"]) == 0
    together, apart = capsys.readouterr().out.split("On real fields:")
    assert "| 6 | 24 parts | 2 |" in together
    assert "(field meadow)" not in together
    assert "| 6 | 24 parts | 2 |" in apart
    assert "(field meadow)" in apart
    with pytest.raises(SystemExit):
        ablation.main([*options, "--families", "field nowhere"])
    assert "--families must be of" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--horizons", "--jobs"])
def test_numbers_below_1_are_refused(option, tmp_path, capsys):
    with pytest.raises(SystemExit):
        ablation.main(["--results", str(tmp_path), option, "0"])
    assert "must be a whole number from 1, got '0'" in capsys.readouterr().err


@pytest.mark.parametrize("module", [ablation, families])
def test_examples(module):
    assert doctest.testmod(module).failed == 0


def test_the_page_shows_what_was_measured(tmp_path):
    rows = ablation.known_rows()
    ablation.write(rows, tmp_path)
    page = (ROOT / "docs" / ablation.PAGE).read_text(encoding="utf-8")
    assert (tmp_path / ablation.PAGE).read_text(encoding="utf-8") == page
    assert {row["variant"] for row in rows} == set(ablation.VARIANTS) - {ablation.DEFAULT}
    assert all(row["family"] in FAMILIES for row in rows)


def test_a_file_of_other_columns_is_refused_in_words(tmp_path, capsys):
    (tmp_path / ablation.FILE).write_text("other,columns\n1,2\n")
    with pytest.raises(SystemExit):
        ablation.main(["--results", str(tmp_path)])
    assert "must have the columns" in capsys.readouterr().err
