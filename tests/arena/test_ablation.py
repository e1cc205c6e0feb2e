"""The default with one piece changed: what changes, and what is said of it."""

import json

import numpy as np
import pytest
from benchmarks import ablation

from corrbandits import Gittins, HorizonUCL, Vague
from corrbandits.arena.problems import FAMILIES
from tests.support import ROOT


def told_everything():
    """Return a belief whose only part is normal: all that variants do otherwise falls away."""
    prior = Vague(coordinates=range(6), mean=3.0, sd=2.0, length=2.0, noise_sd=1.0, site=0.0, kernel="exponential")
    return prior.observe([0, 5, 5], [4.0, 2.0, 2.5])


@pytest.mark.parametrize(
    ("variant", "limit"),
    [(ablation.OnMoments, Gittins), (ablation.WithoutDoubt, Gittins), (ablation.OnQuantiles, HorizonUCL)],
)
@pytest.mark.parametrize("t", [4, 19, 40])
def test_where_nothing_is_unknown_a_variant_is_the_rule_it_varies(variant, limit, t):
    belief = told_everything()
    np.testing.assert_allclose(variant(40).index(belief, t), limit(40).index(belief, t), rtol=1e-9)


@pytest.mark.parametrize("variant", [ablation.OnMoments, ablation.WithoutDoubt, ablation.OnQuantiles])
def test_in_the_opening_and_told_nothing_variants_choose(variant):
    prior = Vague(coordinates=range(6))
    assert np.isinf(variant(40).index(prior, 1)).all()
    later = prior.observe([0, 1, 2, 3, 5], [1.0, 4.0, 2.0, 3.0, 7.0])
    assert np.isfinite(variant(40).index(later, 6)).all()
    assert not np.allclose(variant(40).index(later, 6), Gittins(40).index(later, 6))


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


def test_the_page_shows_what_was_measured(tmp_path):
    rows = json.loads((ROOT / "docs" / ablation.DATA).read_text(encoding="utf-8"))
    ablation.write(rows, tmp_path)
    page = (ROOT / "docs" / ablation.PAGE).read_text(encoding="utf-8")
    assert (tmp_path / ablation.PAGE).read_text(encoding="utf-8") == page
    assert {row["variant"] for row in rows} == set(ablation.VARIANTS) - {ablation.DEFAULT}
    assert all(row["family"] in FAMILIES for row in rows)
