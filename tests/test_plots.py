import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from corrbandits import UCL, GaussianBandit, Independent, plots, simulate, theory

mpl.use("agg")
BANDIT = GaussianBandit([0.0, 1.0, 2.0], 1.0)


@pytest.fixture(scope="module")
def trace():
    flat = Independent(noise_variance=1.0, arms=3)
    return simulate({"a": (UCL(a=1.0), flat), "b": (UCL(a=3.0), flat)}, BANDIT, horizon=300, runs=20)


def test_the_curves_drawn_are_the_means_and_bands_of_the_trace(trace):
    axes = plots.regret(trace, lower_bound=theory.lai_robbins(BANDIT, 300))
    assert [line.get_label() for line in axes.lines] == ["a", "b", "Lai-Robbins lower bound"]
    np.testing.assert_allclose(axes.lines[1].get_ydata(), trace.regret.values[1].mean(axis=0), rtol=1e-12)
    outline = axes.collections[0].get_paths()[0].vertices
    assert outline[:, 1].max() == pytest.approx(float(trace.band()["high"].isel(policy=0).max()))
    assert axes.get_xlabel() == "time $t$ (decisions)"
    assert axes.get_legend() is not None


def test_curves_are_drawn_into_the_axes_given(trace):
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    assert plots.regret(trace, ax=axes) is axes


def test_curves_differ_in_dashes_so_that_grey_is_enough():
    assert len(set(map(str, plots.DASHES))) == len(plots.DASHES) == len(plots.COLOURS)
    assert all(max(to_rgb(colour)) < 0.85 for colour in plots.COLOURS)  # none fades into the paper


def test_many_policies_are_told_apart():
    flat = Independent(noise_variance=1.0, arms=3)
    many = simulate({str(n): (UCL(a=1.0 + n), flat) for n in range(12)}, BANDIT, horizon=20, runs=2)
    axes = plots.regret(many)
    assert (
        len({(line.get_color(), line.get_linestyle(), str(line._unscaled_dash_pattern)) for line in axes.lines}) == 12
    )


def test_the_same_figure_gives_the_same_bytes(trace, tmp_path):
    for name in ("one.png", "one.pdf"):
        written = []
        for _ in range(2):
            figure = plots.regret_with_start(trace, "title", lower_bound=theory.lai_robbins(BANDIT, 300), until=50)
            plots.save(figure, tmp_path / name)
            written.append((tmp_path / name).read_bytes())
        assert written[0] == written[1]


def test_the_lower_bound_is_the_sum_over_suboptimal_arms():
    bandit = GaussianBandit([5.0, 3.0, 4.5, 5.0], noise_variance=[1.0, 2.0, 3.0, 4.0])
    bound = theory.lai_robbins(bandit, 1_000)
    # gaps 2 and 0.5: (2 * 2 / 2 + 2 * 3 / 0.5) log t; the two best arms cost nothing
    assert float(bound.sel(time=1_000)) == pytest.approx(14 * np.log(1_000))
    assert float(bound.sel(time=1)) == 0
    with pytest.raises(ValueError, match="horizon must be at least 1"):
        theory.lai_robbins(bandit, 0)
