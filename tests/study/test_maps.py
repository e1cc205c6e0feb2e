import io
import math

import matplotlib as mpl
import numpy as np
import pytest

import corrbandits as cb
from corrbandits import plots
from corrbandits._shell import terminal
from corrbandits.study.arms import Arms
from corrbandits.study.report import maps
from corrbandits.study.report.lattice import lattice
from corrbandits.study.report.nearest import cells
from corrbandits.study.report.terminal_map import SHADES, TerminalMap, scattered_map

mpl.use("agg")
GRID = [(x, y) for x in range(4) for y in range(3)]


def columns(points, axes=("x", "y"), names=None):
    where = {axis: [point[k] for point in points] for k, axis in enumerate(axes)}
    return {"name": names or [f"p{k}" for k in range(len(points))], **where}


@pytest.fixture
def begin(tmp_path):
    studies = []

    def begun(prior, arms=None, rewards=(), *, name="meadow", **options):
        policy = options.pop("policy", cb.UCL())
        study = cb.Study.create(tmp_path / f"{len(studies)}.db", name, prior=prior, policy=policy, arms=arms, **options)
        for arm, reward in rewards:
            study.observe(arm, reward)
        studies.append(study)
        return study

    yield begun
    for study in studies:
        study.close()


def correlated(points, **options):
    kernel = options.pop("kernel", 9 * cb.Exponential(2.0))
    return cb.Correlated(mean=30.0, kernel=kernel, coordinates=points, noise_variance=1.0)


def drawn(figure):
    for ending in (".png", ".pdf"):
        assert plots.drawn(figure, ending)


def shown(axes):
    """Return the numbers of an image, the lowest row first, NaN where nothing is known."""
    return np.ma.filled(axes.images[-1].get_array().astype(float), np.nan)


def test_a_grid_is_drawn_in_cells_whatever_the_order_of_its_arms(begin):
    order = np.random.default_rng(0).permutation(len(GRID))
    points = [GRID[k] for k in order]
    study = begin(correlated(points), columns(points), [("p0", 33.0), ("p1", 27.0)])
    figure = maps.study_map(study)
    mean, deviation = figure.axes[:2]
    for axes, values in ((mean, study.belief.mean), (deviation, np.sqrt(study.belief.variance))):
        cells = shown(axes)
        assert cells.shape == (3, 4)
        for (x, y), value in zip(points, values, strict=True):
            assert cells[y, x] == pytest.approx(value)
        assert axes.get_aspect() == 1.0
        assert axes.images[-1].get_extent() == [-0.5, 3.5, -0.5, 2.5]
        assert axes.images[-1].origin == "lower"
    assert [axes.get_title(loc="left") for axes in (mean, deviation)] == ["mean", "standard deviation"]
    assert [axes.get_ylabel() for axes in figure.axes[2:]] == ["mean reward", "deviation of the mean reward"]
    drawn(figure)


def test_holes_stay_empty_and_arms_of_which_nothing_is_known_are_grey(begin):
    points = [point for point in GRID if point != (1, 1)]
    study = begin(cb.Independent(noise_variance=1.0, arms=11), columns(points), [("p0", 3.0), ("p1", 4.0)])
    figure = maps.study_map(study)
    assert np.isnan(shown(figure.axes[0])).sum() == 10
    grey = np.ma.filled(figure.axes[0].images[0].get_array().astype(float), np.nan)
    assert np.isnan(grey).sum() == 3  # the hole, and the two that are known
    assert math.isnan(grey[1, 1])
    assert "nothing is known" in [text.get_text() for text in figure.legends[0].get_texts()]
    drawn(figure)


def test_before_any_reward_a_picture_is_drawn_too(begin):
    drawn(maps.study_map(begin(cb.Independent(noise_variance=1.0, arms=12), columns(GRID))))
    drawn(maps.study_map(begin(cb.Independent(noise_variance=1.0, arms=1))))
    drawn(maps.study_map(begin(correlated([0.0, 1.0]))))


def test_few_scattered_arms_are_points_and_marks_lie_on_them(begin):
    points = np.random.default_rng(1).uniform(0, 10, (10, 2))
    rewards = [("p3", 40.0), ("p3", 41.0), ("p7", 30.0)]
    study = begin(correlated(points), columns(points.tolist()), rewards)
    trial = study.ask()
    axes = maps.study_map(study).axes[0]
    _, coloured, dots, ring, star = axes.collections
    np.testing.assert_allclose(coloured.get_offsets(), points)
    np.testing.assert_allclose(coloured.get_array(), study.belief.mean)
    np.testing.assert_allclose(dots.get_offsets(), points[[3, 7]])
    assert dots.get_sizes()[0] > dots.get_sizes()[1]
    np.testing.assert_allclose(ring.get_offsets(), points[[trial.arm]])
    np.testing.assert_allclose(star.get_offsets(), points[[3]])


@pytest.mark.parametrize("goal", ["max", "min"])
def test_the_star_stands_where_the_goal_says(begin, goal):
    study = begin(correlated(GRID), columns(GRID), [("p0", 20.0), ("p11", 40.0)], goal=goal)
    star = maps.study_map(study).axes[0].collections[-1]
    assert star.get_offsets()[0].tolist() == list(GRID[0 if goal == "min" else 11])


def test_a_degree_of_longitude_is_drawn_shorter_than_one_of_latitude(begin):
    points = [(60.0, 10.0), (60.5, 11.0), (59.5, 10.3), (60.0, 12.7)]
    kernel = 9 * cb.Exponential(50.0, distance="great_circle")
    study = begin(correlated(points, kernel=kernel), columns(points, ("latitude", "longitude")), [("p1", 31.0)])
    axes = maps.study_map(study).axes[0]
    assert axes.get_aspect() == pytest.approx(2.0)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("longitude (degrees)", "latitude (degrees)")
    assert axes.collections[1].get_offsets()[1].tolist() == [11.0, 60.5]


def test_arms_on_a_line_are_a_line_with_a_band(begin):
    x = [3.0, 1.0, 2.0]
    study = begin(correlated(x), {"x": x}, [(0, 33.0)])
    mean, deviation = maps.study_map(study).axes
    order = np.argsort(x)
    np.testing.assert_allclose(mean.lines[0].get_ydata(), study.belief.mean[order])
    np.testing.assert_allclose(deviation.lines[0].get_ydata(), np.sqrt(study.belief.variance)[order])
    band = mean.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() == pytest.approx((study.belief.mean + 2 * np.sqrt(study.belief.variance)).max())


def test_arms_without_coordinates_are_bars_with_their_names(begin):
    names = ["$x_1$", "_b", "a^2", "[red]x", r"\frac"]
    study = begin(cb.Independent(noise_variance=1.0, arms=5), names, [(0, 3.0), (1, 4.0)], name="$ _ ^ { \\")
    figure = maps.study_map(study)
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == names
    assert [bar.get_height() for bar in figure.axes[0].patches] == [3.0, 4.0, 0.0, 0.0, 0.0]
    assert [text.get_text() for text in figure.axes[0].texts] == ["?", "?", "?"]
    assert figure.get_suptitle() == "$ _ ^ { \\"
    drawn(figure)  # where a formula would be refused
    for text in (*figure.axes[0].get_xticklabels(), *figure.legends[0].get_texts()):
        assert not text.get_parse_math()


def test_many_arms_without_coordinates_are_drawn(begin):
    study = begin(cb.Independent(variance=1.0, noise_variance=1.0, arms=500), None, [(17, 3.0)])
    figure = maps.study_map(study)
    assert figure.axes[0].get_xlabel() == "arm"
    drawn(figure)


@pytest.mark.parametrize(
    ("points", "shape"),
    [
        (GRID, (3, 4)),
        ([(x * 0.1 + 7, y / 3) for x in range(50) for y in range(2)], (2, 50)),
        ([(round(x / 3, 3), 0.0) for x in range(300)], (1, 300)),
        ([(x, y) for x in range(5) for y in range(5) if x + y < 6], (5, 5)),
        ([(0, 0), (1, 0), (3, 0), (0, 1), (1, 1), (3, 1)], (2, 4)),
        ([(0, 0), (0, 0)], None),
        ([(0, 0), (1, 1), (2.4, 3)], None),
        ([(0, 0), (1e-9, 1), (5, 2), (3, 0.5)], None),
        ([(0, 0)], None),
    ],
)
def test_a_regular_grid_is_told_from_scattered_points(points, shape):
    found = lattice(Arms.of(columns(points)))
    assert (found and (found.y.size, found.x.size)) == shape


def test_random_points_are_no_grid():
    rng = np.random.default_rng(3)
    for count in (3, 10, 100):
        assert lattice(Arms.of(columns(rng.uniform(0, 1, (count, 2)).tolist()))) is None


def lines(chart, width=80):
    return [line.plain for line in chart.lines(width, colour=False)]


def test_the_map_of_a_terminal_has_north_up():
    grid = lattice(Arms.of(columns(GRID)))
    means = np.array([10.0 * y for _, y in GRID])
    assert lines(TerminalMap(grid, means, best=2, open=(3, 2))) == [
        "2  *o██████",
        "   ▒▒▒▒▒▒▒▒",
        "0  ··o·····",
        "   0      3",
        "··░░▒▒▓▓██  mean from 0 to 20; * the best so far, o a trial is open",
    ]


def test_latitudes_go_up_and_longitudes_to_the_right():
    points = [(50.0 + up, 10.0 + across) for up in range(2) for across in range(3)]
    grid = lattice(Arms.of(columns(points, ("latitude", "longitude"))))
    assert grid.picture(np.arange(6.0)).tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_holes_and_unknown_arms_differ_in_a_terminal():
    grid = lattice(Arms.of(columns([point for point in GRID if point != (1, 1)])))
    means = np.full(11, np.nan)
    means[0] = 5.0
    text = lines(TerminalMap(grid, means, best=0, open=()))
    assert text[:3] == ["2  ????????", "   ??  ????", "0  *▒??????"]
    assert text[-1] == "··░░▒▒▓▓██  every mean is 5; * the best so far, ? nothing is known"


@pytest.mark.parametrize("shape", [(400, 400), (1, 1000), (1000, 1), (36, 36), (75, 30), (100, 2)])
@pytest.mark.parametrize("width", [80, 60])
def test_any_grid_fits_the_terminal(shape, width):
    points = [(1e6 + x, -1.5 * y) for x in range(shape[1]) for y in range(shape[0])]
    grid = lattice(Arms.of(columns(points)))
    text = lines(TerminalMap(grid, np.arange(float(len(points))), best=0, open=(5,)), width)
    assert max(map(len, text[:-2])) <= width
    assert len(text) <= 45
    assert any("*" in line for line in text[:-3])
    if shape == (400, 400):
        assert text[-1].startswith("each character is the average of ")


def test_a_map_in_colours_has_the_same_marks():
    grid = lattice(Arms.of(columns(GRID)))
    chart = TerminalMap(grid, np.arange(12.0), best=2, open=(3,))
    coloured = chart.lines(80, colour=True)
    assert [line.plain[3:] for line in coloured[:3]] == ["*       ", "        ", "  o     "]
    assert len({str(span.style) for line in coloured[:3] for span in line.spans}) > 5
    assert not any(sign in line.plain for line in coloured for sign in SHADES)


def test_a_study_shows_itself(begin):
    study = begin(correlated(GRID), columns(GRID, names=["[red]x", *map(str, range(11))]), [("[red]x", 40.0)])
    study.ask()
    text = study.show()
    assert max(map(len, text.splitlines())) <= 80
    for part in ("meadow", "the largest reward", "exponential kernel of length 2, mean 30 ± 3; noise ± 1", "UCL("):
        assert part in text
    assert "1 observed, 1 open; the next decision is t = 3" in text
    assert "[red]x" in text
    assert "\x1b" not in text
    best = study.best()
    assert f"probability {best.probability:.3f}" in text
    assert study.overview(3).top[0].rewards == 1
    assert len(study.overview(3).top) == 3


def test_a_noise_that_rewards_contradict_is_said_in_words(begin):
    rng = np.random.default_rng(0)
    study = begin(correlated([0.0, 1.0]), None, [(0, 30 + 4 * rng.standard_normal()) for _ in range(25)])
    found = study.overview()
    assert "WARNING: rewards of the same arm vary by 3." in found.warnings[-1]
    assert "1 was stated" in found.warnings[-1]
    assert found.noise.p < 1e-6
    assert "by chance at most once in over a million" in found.warnings[-1]
    assert "--noise-sd 3." in found.warnings[-1]
    assert "WARNING" in study.show()
    quiet = begin(correlated([0.0, 1.0]), None, [(0, 30 + rng.standard_normal()) for _ in range(25)])
    assert quiet.overview().warnings == ()
    still = begin(correlated([0.0, 1.0]), None, [(0, 30.0) for _ in range(25)])
    assert "trusted too little" in still.overview().warnings[-1]


def test_limits_are_those_the_rule_compares(begin):
    study = begin(correlated(GRID), columns(GRID), [("p0", 33.0)], policy=cb.CorrelatedUCL())
    limits = study.settings.policy.index(study.belief, study.t)
    for one in study.overview(12).top:
        assert one.limit == pytest.approx(limits[one.arm])
    least = begin(correlated(GRID), columns(GRID), [("p0", 33.0)], goal="min")
    assert all(one.limit < one.mean for one in least.overview().top)
    assert begin(correlated(GRID), columns(GRID), policy=cb.Thompson()).overview().top[0].limit is None


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        (cb.Independent(noise_variance=4.0, arms=2), "independent arms, of which nothing is known; noise ± 2"),
        (
            cb.Independent(mean=[1.0, 2.0], variance=9.0, noise_variance=[1.0, 4.0]),
            "independent arms, mean 1 to 2 ± 3; noise ± 1 to 2",
        ),
        (cb.Correlated(covariance=np.eye(2), noise_variance=1.0), "a covariance of all arms, mean 0 ± 1; noise ± 1"),
        (
            cb.Beta(successes=[0.5, 2.0], failures=3.0, arms=2),
            "independent arms, rewards 0 or 1; assumed of each: successes 0.5 to 2, failures 3",
        ),
        (
            cb.Correlated(
                kernel=4 * cb.RationalQuadratic(30.0, distance="chordal", alpha=2.0),
                coordinates=[[0, 0], [1, 1]],
                noise_variance=1.0,
            ),
            "rational quadratic kernel of length 30 km (chordal distance, alpha 2), mean 0 ± 2; noise ± 1",
        ),
    ],
)
def test_every_prior_is_said_in_words(begin, prior, words):
    study = begin(prior)
    assert study.overview().prior == words
    assert study.show()
    drawn(maps.study_map(study))


def test_a_terminal_that_has_no_blocks_gets_other_signs(begin):
    study = begin(correlated(GRID), columns(GRID), [("p0", 33.0)])
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    study.overview().print(terminal.console(file, width=80))
    file.flush()
    text = file.buffer.getvalue().decode("ascii")
    assert "..::++%%@@" in text
    assert "mean 30 +- 3; noise +- 1" in text


def scattered(count, seed=1, width=1000.0, height=600.0):
    return np.random.default_rng(seed).uniform(0, [width, height], (count, 2))


def nearest(points, x, y):
    """Return the nearest point by looking at all of them."""
    return int(((points - [x, y]) ** 2).sum(axis=1).argmin())


def test_each_place_of_200_scattered_arms_has_the_colour_of_the_nearest(begin):
    points = scattered(200)
    study = begin(correlated(points), columns(points.tolist()), [(f"p{k}", 25.0 + k / 10) for k in range(60)])
    study.ask(2)
    left, right = maps.study_map(study).axes[:2]
    for axes, values in ((left, study.belief.mean), (right, np.sqrt(study.belief.variance))):
        picture = shown(axes)
        x0, x1, y0, y1 = axes.images[-1].get_extent()
        rows, cells_across = picture.shape
        checked = 0
        for row in range(0, rows, 7):
            for column in range(0, cells_across, 7):
                x, y = x0 + (column + 0.5) * (x1 - x0) / cells_across, y0 + (row + 0.5) * (y1 - y0) / rows
                if not math.isnan(picture[row, column]):
                    assert picture[row, column] == values[nearest(points, x, y)]
                    checked += 1
        assert checked > 300
    dots, rewarded, ring, star = left.collections
    np.testing.assert_allclose(dots.get_offsets(), points)
    assert len(rewarded.get_offsets()) == 60
    assert len(ring.get_offsets()) == 2
    np.testing.assert_allclose(star.get_offsets(), points[[int(study.belief.mean.argmax())]])
    drawn(maps.study_map(study))


def test_a_terminal_shows_200_scattered_arms_as_a_surface(begin):
    points = scattered(200)
    study = begin(correlated(points), columns(points.tolist()), [(f"p{k}", points[k, 0] / 20) for k in range(200)])
    best = points[int(study.belief.mean.argmax())]
    text = study.show()
    lines = text[text.index("Mean reward") :].splitlines()[1:]
    assert max(map(len, text.splitlines())) <= 80
    assert lines[-1] == "scattered arms: each place has the shade of the arm nearest to it"
    legend = next(k for k, line in enumerate(lines) if "mean from" in line)
    picture = lines[: legend - 1]
    margin = min(len(line) - len(line.lstrip(" 0123456789.")) for line in picture)
    shades = [[SHADES.find(sign) for sign in line[margin:]] for line in picture]
    left = [shade for row in shades for shade in row[:16] if shade >= 0]
    right = [shade for row in shades for shade in row[-16:] if shade >= 0]
    assert np.mean(left) < 1.0
    assert np.mean(right) > 3.0
    row = next(k for k, line in enumerate(picture) if "*" in line)
    assert row / len(picture) == pytest.approx(1 - best[1] / 600, abs=0.1)
    assert sum(sign >= 0 for row in shades for sign in row) > 0.9 * sum(len(row) for row in shades)


def test_what_is_far_from_every_arm_stays_empty():
    points = np.concatenate([scattered(40, 1, 100, 100), 900 + scattered(40, 2, 100, 100)])
    made = scattered_map(Arms.of(columns(points.tolist())), np.arange(80.0), 79, [0])
    text = [str(line) for line in made.lines(80, colour=False)]
    assert 40 < len("".join(text[:-3])) - "".join(text[:-3]).count(" ") < 400
    assert sum("*" in line for line in text[:-3]) == sum("o" in line for line in text[:-3]) == 1


@pytest.mark.parametrize(
    "points",
    [
        [(float(k), 3.0) for k in (1, 2, 4, 8, 9, 11, 15, 16, 20, 21, 22, 30)],
        [(3.0, float(k**2)) for k in range(15)],
        [(1.0, 1.0)] * 14,
        [(k, k * 1e300) for k in range(3)],
    ],
)
def test_any_scattered_arms_are_shown_or_left_out(points):
    arms = Arms.of(columns([tuple(map(float, point)) for point in points]))
    made = scattered_map(arms, np.arange(float(len(points))), 0, [1])
    if made is not None:
        assert all(len(str(line)) <= 80 for line in made.lines(80, colour=False))


def test_scattered_latitudes_are_measured_on_the_globe():
    points = np.column_stack([scattered(60, 3, 1, 0)[:, 0] + 60.0, scattered(60, 4, 2, 0)[:, 0] + 10.0])
    found = cells(Arms.of(columns(points.tolist(), ("latitude", "longitude"))), 32, 24)
    assert found.arm.shape == pytest.approx(
        (24, 24), abs=1
    )  # at 60 degrees two degrees of longitude are one of latitude
