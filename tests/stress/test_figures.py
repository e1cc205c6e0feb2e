import base64
import csv
import hashlib
import io
import itertools
import json
import re
import shutil
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest

import corrbandits as cb
from corrbandits import plots
from corrbandits._shell.numbers import number
from corrbandits._shell.page.html import asset, embedded
from corrbandits._shell.ratios import ratio_text
from corrbandits.stress import StressTest, figures, panels
from corrbandits.stress.names import NOMINAL, axis_label, changes
from corrbandits.stress.page import html as page_html
from corrbandits.stress.page.charts import chart_data
from tests.support.pages import Outline, numbers_of
from tests.support.synthetic_stress import ACCURACY, CONFIDENCE, LENGTH, synthetic

mpl.use("agg")
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \"quoted\" 'too' $\\foo{$ \u2028"


class Stand:
    """A stress test as the figures and the page need it."""

    def __init__(self, data, sentences=("Your prior helps.", "A length of 2 to 6 is safe.")):
        self.data, self.rows, self.said = data, StressTest(data).rows, list(sentences)

    def sentences(self):
        return self.said

    def to_csv(self):
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["candidate", "kind", "time", "mean"])
        means = self.data["regret"].mean("run")
        for i, candidate in enumerate(self.data["candidate"].values):
            for j, kind in enumerate(self.data["kind"].values):
                rows = zip(self.data["time"].values, means.values[i, j], strict=True)
                writer.writerows([candidate, kind, time, repr(float(mean))] for time, mean in rows if np.isfinite(mean))
        return file.getvalue()


def expected(data, candidate, across, up, time=-1):
    """Return the ratios of a grid found setting by setting, NaN where there is none."""
    values = {name: data[name].values for name in ("accuracy", "confidence", "length")}
    nominal = {"accuracy": NOMINAL[data.attrs["default_kind"]], "confidence": 1.0, "length": 1.0}
    (third,) = set(nominal) - {across, up}
    names = data["candidate"].values.tolist()
    regret = data["regret"].values[..., time]
    here = [
        i
        for i in range(data.sizes["setting"])
        if data["kind"].values[i] == data.attrs["default_kind"] and values[third][i] == nominal[third]
    ]
    x, y = (sorted({values[name][i] for i in here}) for name in (across, up))
    found = np.full((len(y), len(x)), np.nan)
    for i in here:
        mine, flat = regret[names.index(candidate), i], regret[names.index("uninformative"), i]
        if np.isfinite(mine).any():
            found[y.index(values[up][i]), x.index(values[across][i])] = np.nanmean(mine) / np.nanmean(flat)
    return found


@pytest.fixture(scope="module")
def data():
    return synthetic()


@pytest.fixture(scope="module")
def html(data):
    return page_html.render(Stand(data))


def maps_of(figure):
    return [ax for ax in figure.axes if ax.images]


def written(figure):
    """Return every text of a drawn figure with its box."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    FigureCanvasAgg(figure).draw()
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return [(text.get_text(), text.get_window_extent()) for text in texts]


def assert_nothing_is_cut(figure):
    assert len(written(figure)) > 5
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()  # inches, around all that is drawn
    assert (box.x0 > -0.01, box.y0 > -0.01, box.x1 < width + 0.01, box.y1 < height + 0.01) == (True,) * 4
    for ax in figure.axes:
        labels = [label.get_window_extent() for label in ax.get_xticklabels() if label.get_text()]
        assert all(a.x1 <= b.x0 for a, b in itertools.pairwise(labels))


SHAPES = {
    "5 x 5": {},
    "3 x 5": {"confidence": (0.1, 1.0, 10.0)},
    "2 x 2": {"accuracy": {"shift": (0.0, 9.0)}, "confidence": (1.0, 10.0), "length": (0.5, 1.0)},
    "9 x 7": {"confidence": tuple(10.0**n for n in range(-4, 5)), "length": (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)},
    "one kind": {"accuracy": {"swap": ACCURACY["swap"]}, "kind": "swap"},
    "no length": {"length": (1.0,)},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_heat_map_shows_the_ratios_of_mean_regret(shape):
    data = synthetic(**SHAPES[shape])
    figure = figures.grids(Stand(data))
    pairs = panels.PAIRS[:1] if shape == "no length" else panels.PAIRS
    shown = iter(maps_of(figure))
    for candidate in ("printed", "plain"):
        for across, up in pairs:
            ax, ratios = next(shown), expected(data, candidate, across, up)
            np.testing.assert_allclose(np.exp(ax.images[0].get_array().filled(np.nan)), ratios, rtol=1e-9)
            numbers = [text.get_text() for text in ax.texts]
            assert numbers == ([ratio_text(r) for r in ratios.ravel()] if ratios.shape[1] <= 7 else [])
            values = np.unique(data[across].values[data["kind"].values == data.attrs["default_kind"]])
            ticks = [float(text.get_text().replace(",", "")) for text in ax.get_xticklabels()]
            assert ticks == pytest.approx(values[ax.get_xticks().astype(int)], rel=0.01)
    assert next(shown, None) is None
    assert_nothing_is_cut(figure)


def parted(lines, shape):
    """Return which cells a line of edges parts from the one to their right, and from the one above them."""
    right, above = np.zeros((shape[0], shape[1] - 1), dtype=bool), np.zeros((shape[0] - 1, shape[1]), dtype=bool)
    for (x0, y0), (x1, y1) in lines:
        (right if x0 == x1 else above)[int(min(y0, y1) + (x0 == x1) * 0.5), int(min(x0, x1) + (x0 != x1) * 0.5)] = True
    return right, above


def test_the_line_parts_cells_where_the_prior_hurts_from_others_and_leaves_numbers_alone(data):
    page, lines = chart_data(Stand(data))["maps"], 0
    drawn = iter(maps_of(figures.grids(Stand(data))))
    for candidate in ("printed", "plain"):
        for cells, line in page[candidate]["1000"].values():
            hurts = np.array([["it hurts" in text for text in row] for row in cells["hovertext"]])
            ends = [(x, y) for x, y in zip(line["x"], line["y"], strict=True) if x is not None]
            edges = list(zip(ends[::2], ends[1::2], strict=True))
            (collection,) = next(drawn).collections
            assert [[*map(tuple, path.vertices)] for path in collection.get_paths()] == [[*edge] for edge in edges]
            right, above = parted(edges, hurts.shape)
            np.testing.assert_array_equal(right, hurts[:, 1:] != hurts[:, :-1])
            np.testing.assert_array_equal(above, hurts[1:] != hurts[:-1])
            assert all(x % 1 == 0.5 or y % 1 == 0.5 for edge in edges for x, y in edge), "numbers are in the middle"
            lines += len(edges)
    assert lines > 20


def test_colours_of_the_page_reach_as_far_as_those_of_the_figure(data):
    (top, *_) = maps_of(figures.grids(Stand(data)))
    assert np.log(chart_data(Stand(data))["limit"]) == pytest.approx(top.images[0].get_clim()[1])


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (cb.CorrelatedUCL(a=3.3), "CorrelatedUCL(a=3.3)"),
        (cb.CorrelatedUCL(a=10 / 3, factor=False), "CorrelatedUCL(a=3.333, factor=False)"),
        (cb.Thompson(), "Thompson()"),
        ("<b>", "<b>"),
        ("f(g(1))", "f(g(1))"),
    ],
)
def test_a_policy_is_told_by_what_is_not_usual(policy, words):
    assert page_html.short(policy if isinstance(policy, str) else repr(policy)) == words


def test_where_no_prior_hurts_there_is_no_line(data):
    always = data.copy(deep=True)
    always["regret"] = data["regret"].where(data["candidate"] == "uninformative", data["regret"] / 100)
    figure = figures.grids(Stand(always))
    assert not any(line.get_paths() for ax in maps_of(figure) for line in ax.collections)
    assert [line["x"] for _, line in chart_data(Stand(always))["maps"]["printed"]["1000"].values()] == [[]] * 3


def test_heat_maps_say_in_words_what_they_show(data):
    figure = figures.grids(Stand(data))
    texts = " | ".join(text for text, _ in written(figure))
    for words in (
        "prior means shifted by (reward)", "prior variance times", "prior length times", "printed index",
        "plain index", "prior helps", "prior hurts", "on its orange side", "the prior as given", "1,000 decisions",
    ):  # fmt: skip
        assert words in texts
    for ax in maps_of(figure):
        (frame,) = ax.patches
        assert (frame.get_x() + frame.get_width() / 2, frame.get_y() + frame.get_height() / 2) == pytest.approx((2, 2))


def test_what_was_not_played_is_left_blank_and_a_candidate_never_played_is_left_out(data):
    holes = data.copy(deep=True)
    holes["regret"][0, 0] = np.nan
    figure = figures.grids(Stand(holes))
    np.testing.assert_allclose(
        np.exp(maps_of(figure)[0].images[0].get_array().filled(np.nan)),
        expected(holes, "printed", "accuracy", "confidence"),
    )
    assert maps_of(figure)[0].texts[0].get_text() == "–"
    holes["regret"][0] = np.nan
    assert len(maps_of(figures.grids(Stand(holes)))) == 3
    names = [line.get_label() for line in figures.curves(Stand(holes)).axes[0].lines]
    assert "printed index" not in names
    assert set(json.loads(json.dumps(chart_data(Stand(holes))))["maps"]) == {"plain"}
    page_html.render(Stand(holes))
    with pytest.raises(ValueError, match="printed or plain, and uninformative"):
        figures.grids(Stand(data.where(data["candidate"] == "plain")))


def test_a_policy_with_one_index_is_called_the_policy(data):
    one = data.sel(candidate=["plain", "uninformative"]).assign_attrs(candidate="plain")
    for figure in (figures.grids(Stand(one)), figures.curves(Stand(one))):
        texts = [text for text, _ in written(figure)]
        assert "policy" in texts
        assert "plain index" not in texts
        assert "at the corners" not in texts
    assert "They were not played" in page_html.render(Stand(one))


def test_zero_regret_is_drawn_and_nothing_is_divided_by_zero(data):
    for name, draw in (("printed", figures.grids), ("uninformative", figures.curves)):
        none = data.copy(deep=True)
        none["regret"] = data["regret"].where(data["candidate"] != name, data["regret"] * 0)
        assert written(draw(Stand(none)))
        embedded(chart_data(Stand(none)))  # refuses what is no number


def test_one_run_has_no_band_but_is_drawn(data):
    one = data.isel(run=[0])
    assert np.isnan(panels.bands(Stand(one))["low"].values).all()
    assert_nothing_is_cut(figures.curves(Stand(one)))
    assert "(" not in re.findall("<td>(.*?)</td>", page_html.render(Stand(one)))[1]


def test_a_curve_shows_means_and_intervals(data):
    from scipy.stats import t

    figure = figures.curves(Stand(data))
    labels = [axis_label(name, data.attrs) for name in (*ACCURACY, "confidence", "length")]
    assert [ax.get_xlabel() for ax in figure.axes[:6]] == labels
    shift = figure.axes[0]
    line = next(line for line in shift.lines if line.get_label() == "printed index")
    np.testing.assert_array_equal(line.get_xdata(), ACCURACY["shift"])
    columns = (data[name].values.tolist() for name in ("kind", "accuracy", "confidence", "length"))
    settings = list(zip(*columns, strict=True))
    at = [settings.index(("shift", x, 1.0, 1.0)) for x in ACCURACY["shift"]]
    runs = data["regret"].values[0, at, :, -1]
    np.testing.assert_allclose(line.get_ydata(), runs.mean(axis=1))
    low, high = t.interval(0.95, runs.shape[1] - 1, runs.mean(axis=1), runs.std(axis=1, ddof=1) / runs.shape[1] ** 0.5)
    outline = shift.collections[0].get_paths()[0].vertices[:, 1]
    assert (outline.min(), outline.max()) == pytest.approx((low.min(), high.max()))
    assert figure.axes[4].get_xscale() == figure.axes[5].get_xscale() == "log"
    assert_nothing_is_cut(figure)


def test_a_kind_s_curve_goes_through_the_prior_as_given_though_that_is_listed_once(data):
    by_name = {curve.factor: curve for curve in panels.curves(data)}
    assert set(by_name) == {*ACCURACY, "confidence", "length"}
    for kind, values in ACCURACY.items():
        np.testing.assert_array_equal(by_name[kind].x, values)
    np.testing.assert_array_equal(by_name["confidence"].x, CONFIDENCE)
    np.testing.assert_array_equal(by_name["length"].x, LENGTH)
    given = {int(curve.settings[np.isclose(curve.x, NOMINAL[name])][0]) for name, curve in by_name.items()}
    assert len(given) == 1
    assert changes(panels.settings(data)[given.pop()]) == ["as given"]


def test_values_of_a_curve_alone_do_not_tear_holes_into_a_grid():
    data = synthetic()
    fine = data.isel(setting=[0]).assign_coords(
        accuracy=("setting", [3.3]), confidence=("setting", [1.0]), length=("setting", [1.0])
    )
    import xarray as xr

    more = xr.concat([data, fine], "setting")
    assert [grid.settings.shape for grid in panels.pair_grids(more)] == [(5, 5)] * 3
    assert 3.3 in panels.curves(more)[0].x


def test_at_the_corners_every_belief_is_shown(data):
    figure = figures.curves(Stand(data))
    (ax,) = (ax for ax in figure.axes if ax.get_title(loc="left") == "at the corners")
    assert [label.get_text() for label in ax.get_xticklabels()] == [
        f"means shifted by {x}\nvariance × {y}" for x in ("-23.4", "23.4") for y in ("0.01", "100")
    ]
    shown = {c.get_label(): c.lines[0].get_ydata() for c in ax.containers}
    assert set(shown) == {"printed index", "plain index", "elimination", "refitting"}
    corner = panels.corners(data)[0]
    np.testing.assert_allclose(shown["refitting"][0], np.nanmean(data["regret"].values[4, corner, :, -1]))


def test_the_same_test_gives_the_same_figures_and_page(data, html):
    first, second = (plots.drawn(figures.grids(Stand(data)), ".pdf") for _ in range(2))
    assert first == second
    assert page_html.render(Stand(data)) == html


def test_the_page_is_whole_and_accessible(html):
    outline = Outline(html)
    assert outline.open == []
    assert outline.of("html") == [{"lang": "en"}]
    assert page_html.TITLE in outline.texts
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
    ids = [attrs["id"] for _, attrs in outline.tags if "id" in attrs]
    assert len(set(ids)) == len(ids)
    drawn = [attrs for attrs in outline.of("div") if attrs.get("class") == "chart"]
    assert len(drawn) == 9
    assert all(attrs["role"] == "img" and len(attrs["aria-label"]) > 30 for attrs in drawn)
    assert {attrs["type"] for attrs in outline.of("input")} == {"radio"}
    assert [attrs["value"] for attrs in outline.of("input") if "checked" in attrs] == ["printed", "1000"]


def test_the_page_asks_nobody_for_anything(html):
    outline = Outline(html)
    addresses = [value for _, attrs in outline.tags for name, value in attrs.items() if name in ("src", "href")]
    assert addresses
    assert all(address.startswith("data:") for address in addresses)
    assert not outline.of("link")
    assert not outline.of("iframe")
    style, script = asset("corrbandits._shell.page", "page.css"), asset("corrbandits.stress.page", "page.js")
    assert "url(" not in style
    assert "http" not in style + script
    (rules,) = (a["content"] for a in outline.of("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert rules.startswith("default-src 'none'; ")
    assert "script-src 'sha256-" in rules
    scripts = [text for attrs, text in outline.scripts if "type" not in attrs]
    assert len(scripts) == 2
    for text in scripts:
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in rules


def test_the_page_says_every_sentence_and_holds_the_whole_table(data):
    said = ["Your prior helps unless its means are off by > 14.", "A length of 2 to 6 is safe.", "Third."]
    test = Stand(data, said)
    outline = Outline(page_html.render(test))
    for sentence in said:
        assert sentence in outline.texts
    (link,) = (attrs for attrs in outline.of("a") if "download" in attrs)
    assert base64.b64decode(link["href"].partition("base64,")[2]).decode() == test.to_csv()
    assert len(outline.of("tr")) == 1 + 4 + len(test.to_csv().splitlines())
    for text in ("CorrelatedUCL(K=4.13, a=3.284)", data.attrs["truth"], "1,000 decisions", "corrbandits 0.1.0"):
        assert text in outline.texts


def test_the_numbers_in_the_page_are_those_of_the_test(data, html):
    numbers = numbers_of(Outline(html))
    assert set(numbers["maps"]) == {"printed", "plain"}
    for k, time in enumerate(data["time"].values):
        for candidate in ("printed", "plain"):
            for (across, up), name in zip(
                panels.PAIRS, ("shift-confidence", "shift-length", "confidence-length"), strict=True
            ):
                z = numbers["maps"][candidate][str(time)][name][0]["z"]
                np.testing.assert_allclose(np.exp(z), expected(data, candidate, across, up, k), rtol=1e-9)
        curve = numbers["curves"][str(time)]["length"][2]
        assert curve["x"] == list(LENGTH)
    hover = numbers["maps"]["printed"]["1000"]["shift-confidence"][0]["hovertext"][0][0]
    mean = data["regret"].values[0, 0, :, -1].mean()
    assert hover.startswith(f"<b>means shifted by -23.4, variance × 0.01</b><br>regret {number(mean, 4)} reward (")
    assert hover.endswith("times the uninformative prior's: it hurts")
    assert numbers["said"]["printed"]["1000"].startswith("Printed index, after 1,000 decisions: it helps at ")


def test_plotly_knows_everything_that_is_asked_of_it(data):
    import plotly.graph_objects as go

    charts = chart_data(Stand(data))
    for name, layout in charts["layouts"].items():
        traces = (charts["maps"]["printed"]["1000"] | charts["curves"]["1000"])[name]
        go.Figure(data=traces, layout=layout)  # refuses a property it does not know


def test_hostile_text_stays_text(data):
    hostile = data.assign_attrs(policy=HOSTILE, truth=HOSTILE, units=HOSTILE, version=HOSTILE)
    outline = Outline(page_html.render(Stand(hostile, [HOSTILE, HOSTILE])))
    assert outline.open == []
    assert len(outline.scripts) == 3
    assert not outline.of("img")
    assert not any(name.startswith("on") for _, attrs in outline.tags for name in attrs)
    assert outline.texts.count(HOSTILE) >= 4
    titles = numbers_of(outline)["layouts"]["shift-length"]["xaxis"]["title"]["text"]
    assert "<" not in titles  # plotly would take it for a tag
    figure = figures.grids(Stand(data.assign_attrs(units=r"$\foo{$")))
    assert any(r"\$\foo{\$" in text for text, _ in written(figure))  # no formula begins


def test_heavy_libraries_wait_until_a_figure_is_drawn():
    code = (
        "import sys; from corrbandits.stress import figures; from corrbandits.stress.page import html\n"
        "print({'plotly', 'matplotlib', 'xarray', 'scipy', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium here")
def test_a_browser_draws_every_figure_under_the_page_s_own_rules(html, tmp_path):
    done = browsed(html, tmp_path, "page.html")
    assert "CONSOLE" not in done.stderr
    drawn = done.stdout[done.stdout.index("<main>") : done.stdout.index("</main>")]
    assert drawn.count("js-plotly-plot") == 9
    assert "Printed index, after 1,000 decisions: it helps at" in drawn


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium here")
@pytest.mark.parametrize("width", [320, 390])
def test_on_a_telephone_nothing_reaches_beyond_the_edge(html, tmp_path, width):
    """A frame, since the browser's own windows are 500 wide at least."""
    look = """const page = frames[0].document, wide = page.documentElement.clientWidth;
        const ends = [...page.querySelectorAll("figure svg")].map((one) => one.getBoundingClientRect().right);
        document.title = [wide, page.documentElement.scrollWidth, Math.max(...ends), ends.length].join(" ");"""
    (tmp_path / "frame.html").write_text(
        f'<iframe src="page.html" style="width: {width}px; height: 800px; border: 0"></iframe>'
        f"<script>setTimeout(() => {{{look}}}, 2000)</script>"
    )
    done = browsed(html, tmp_path, "frame.html", "--allow-file-access-from-files")
    seen, reaches, figures_end, count = map(float, re.search(r"<title>(.*)</title>", done.stdout)[1].split())
    assert width - 30 < seen <= width
    assert (reaches, count >= 9) == (seen, True)
    assert figures_end <= seen


def browsed(html, folder, name, *options):
    """Return what a browser says and makes of a page, or of a file that shows it."""
    (folder / "page.html").write_text(html, encoding="utf-8")
    always = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}", "--enable-logging=stderr"]
    command = ["chromium", *always, *options, "--virtual-time-budget=5000", "--dump-dom", (folder / name).as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)
