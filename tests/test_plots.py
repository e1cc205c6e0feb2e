import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from corrbandits import UCL, GaussianBandit, Independent, Moves, plots, simulate, theory

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


def names_in(legend):
    return [text.get_text() for text in legend.get_texts()]


def named(*names):
    flat = Independent(noise_variance=1.0, arms=3)
    return simulate({name: (UCL(a=1.0), flat) for name in names}, BANDIT, horizon=20, runs=2)


def test_names_are_drawn_as_they_are_written(tmp_path):
    names = [r"$\foo{$", "_hidden", "日本語 \N{GRINNING FACE}", "50 % $ off", "plain"]
    bound = theory.lai_robbins(BANDIT, 20)
    figure = plots.regret_with_start(named(*names), r"$\foo{$", lower_bound=bound, until=5)
    shown = names_in(figure.legends[0])
    assert [name.replace(r"\$", "$") for name in shown] == [*names, "Lai-Robbins lower bound"]
    assert all(name.count("$") == name.count(r"\$") for name in shown)  # no formula begins
    for ending in (".png", ".pdf"):
        plots.save(figure, tmp_path / f"names{ending}")  # neither a formula's error nor a warning of glyphs
    assert names_in(plots.regret(named(*names)).get_legend()) == shown[:-1]


def test_other_warnings_are_not_silenced(trace):
    import warnings

    figure = plots.regret_with_start(trace, "title", lower_bound=theory.lai_robbins(BANDIT, 300), until=50)
    figure.savefig = lambda *args, **options: warnings.warn("something else", UserWarning, stacklevel=1)
    with pytest.warns(UserWarning, match="something else"):
        plots.drawn(figure, ".png")


def test_more_names_than_fit_are_counted():
    many = named(*(f"policy {n}" for n in range(300)))
    shown = names_in(plots.regret(many, lower_bound=theory.lai_robbins(BANDIT, 20)).get_legend())
    assert len(shown) == plots.MOST_NAMES + 2
    assert shown[-2:] == ["and 280 more", "Lai-Robbins lower bound"]
    assert names_in(plots.regret(named("x" * 500)).get_legend()) == ["x" * plots.LONGEST_NAME + "..."]


@pytest.mark.parametrize("top", [1e-9, 3e-4, 0.1, 0.7, 1.0, 2.0, 3.5, 9, 12, 1_234, 45_678, 3e7, 1e12])
def test_tick_labels_are_all_different_and_right(top):
    from matplotlib.ticker import MaxNLocator

    places = MaxNLocator(nbins=9, steps=[1, 2, 2.5, 5, 10]).tick_values(0, top)
    labels = [plots.tick_label(x, places) for x in places]
    assert len(set(labels)) == len(labels)
    np.testing.assert_allclose([float(label.replace(",", "")) for label in labels], places, rtol=1e-5, atol=1e-6 * top)


def test_the_ticks_of_a_figure_with_a_small_regret_differ():
    small = GaussianBandit([0.0, 0.01, 0.02], 1.0)
    flat = Independent(noise_variance=1.0, arms=3)
    axes = plots.regret(simulate({"a": (UCL(a=1.0), flat)}, small, horizon=5, runs=3))
    axes.figure.canvas.draw()
    for axis in (axes.xaxis, axes.yaxis):
        labels = [label.get_text() for label in axis.get_ticklabels()]
        assert len(set(labels)) == len(labels) > 2


def test_bounds_are_drawn_where_they_say_something_and_named_where_not(trace):
    curve = theory.lai_robbins(BANDIT, 300) * 1e4
    curves = {"a": {"Theorem 1": curve.where(curve.time > 9)}, "b": {"Theorem 1": curve * np.nan}}
    axes = plots.bounds(curves, trace=trace, lower_bound=theory.lai_robbins(BANDIT, 300))
    expected = ["a", "b", "Lai-Robbins lower bound", "a, Theorem 1", "b, Theorem 1: vacuous (regret)"]
    assert names_in(axes.get_legend()) == expected
    assert axes.get_ylim()[1] > float(curve.max())  # the bound is within the picture
    assert 0 < axes.get_ylim()[0] <= float(trace.regret.mean("run").isel(time=0).min())
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert axes.lines[3].get_color() == axes.lines[0].get_color()  # a bound has its policy's colour
    assert not (axes.lines[2].get_ydata() <= 0).any()  # nothing falls off a logarithmic axis


def test_a_bound_that_speaks_of_the_last_time_alone_is_marked_there():
    curve = theory.lai_robbins(BANDIT, 8).where(lambda values: values["time"] == 8)
    axes = plots.bounds({"a": {"Theorem 1": curve}})
    assert axes.lines[0].get_markevery() == [7]


@pytest.mark.parametrize("times", [None, [300], [100, 200], [299, 300]])
def test_a_summary_is_drawn_where_it_has_times(times, tmp_path):
    flat = Independent(noise_variance=1.0, arms=3)
    summary = simulate({"a": (UCL(a=1.0), flat)}, BANDIT, 300, 5, record="summary", times=times)
    time = summary.data["time"].values
    bound = theory.lai_robbins(BANDIT, 300, times=time)
    axes = plots.regret(summary, lower_bound=bound)
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), time)
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), summary.regret.mean("run").values[0])
    figure = plots.regret_with_start(summary, "title", lower_bound=bound, until=30)
    plots.save(figure, tmp_path / "figure.png")
    assert figure.axes[1].lines[0].get_xdata().size


def test_the_figure_of_a_file_shows_what_moves_cost_with_the_regret():
    bandit, prior = GaussianBandit([0.0, 1.0], 1.0), Independent(noise_variance=1.0, arms=2)
    trace = simulate({"a": (UCL(), prior)}, bandit, 50, 3, moves=Moves(per_move=2.0))
    bound = theory.lai_robbins(bandit, 50)
    whole, start = plots.regret_with_start(trace, "with moves", lower_bound=bound, until=20).axes
    assert whole.get_ylabel() == plots.LABELS["total_cost"]
    (line,) = whole.lines
    np.testing.assert_allclose(line.get_ydata()[-1], trace.total_cost.isel(time=-1).mean())
    assert len(start.lines) == 1
