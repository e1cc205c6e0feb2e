"""The page and the figures of a report."""

import itertools
import re
import shutil
import subprocess

import numpy as np
import pytest

from corrbandits import plots
from corrbandits._shell.numbers import number
from corrbandits.arena import figures
from corrbandits.arena.contestants import DEFAULT, WRONG, contestants
from corrbandits.arena.page.charts import TOLD, chart_data, compared
from corrbandits.arena.page.html import TITLE, render
from corrbandits.arena.results import Game
from corrbandits.arena.standings import ALL, standings, to_csv
from tests.support.pages import Outline, numbers_of

FAMILIES = ("chain", "rough grid", "field mine")
HOSTILE = "$\\foo{$ </script><script>alert(1)</script><img src=x onerror=alert(2)> & \"quoted\" 'too'"


def games(rivals=()):
    """Games that nobody played: regrets drawn about a level for each contestant."""
    rng = np.random.default_rng(0)
    return [
        Game(family, number, horizon, rule, told, horizon**0.5 * level * float(rng.gamma(9.0)), rng.random(), 1e-4)
        for horizon in (50, 200)
        for rule, told in [*contestants(horizon, 100), *((rival, "nothing") for rival in rivals)]
        for level in [1 + len(rule + told) / 20]
        for family in FAMILIES
        for number in range(5)
    ]


@pytest.fixture(scope="module")
def rows():
    return standings(games())


@pytest.fixture(scope="module")
def html(rows):
    return render(rows, seed=7)


def test_the_page_is_whole_and_accessible(rows, html):
    outline = Outline(html)
    assert outline.open == []
    assert TITLE in outline.texts
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
    drawn = [attrs for attrs in outline.of("div") if attrs.get("class", "").startswith("chart")]
    assert len(drawn) == 2
    assert all(attrs["role"] == "img" and len(attrs["aria-label"]) > 30 for attrs in drawn)
    assert [attrs["value"] for attrs in outline.of("input") if "checked" in attrs] == ["200", "nothing"]
    addresses = [value for _, attrs in outline.tags for name, value in attrs.items() if name in ("src", "href")]
    assert all(address.startswith("data:") for address in addresses)
    assert "7, not one that anything was tuned on" in outline.texts
    assert render(rows, seed=7) == html


def test_the_page_holds_every_number_and_every_contestant(rows, html):
    outline = Outline(html)
    assert len(outline.of("tr")) == (len(rows) + 1) + sum(row.family in (ALL, "all fields") for row in rows) + 2 * 6
    for one in contestants(200, 100):
        assert (figures.name_of(one) if one.told in WRONG else one.rule) in outline.texts
    assert f"Show all {len(rows):,} rows" in outline.texts
    assert to_csv(rows).splitlines()[0].startswith("horizon,family,rule,told,games")


def test_a_table_has_columns_with_something_in_them_and_no_interval_is_broken(rows, html):
    tables = html.split("<h3>")[1:]
    assert len(tables) == 12
    for one in tables:
        assert (">price of ignorance</th>" in one) == one.startswith("Told nothing")
    (row,) = (row for row in rows if (row.horizon, row.family, row.contestant) == (200, ALL, ("Gittins", "everything")))
    interval = f"({number(row.ratio_low)}\u00a0to\u00a0{number(row.ratio_high)})"
    assert interval in html


def test_the_numbers_in_the_figures_are_those_of_the_table(rows, html):
    numbers = numbers_of(Outline(html))
    found = {(row.horizon, row.family, row.contestant): row for row in rows}
    cells = numbers["families"]["nothing"]["200"]["traces"][0]
    for one, of_one in zip(cells["y"], cells["z"], strict=True):
        for family, z in zip(cells["x"], of_one, strict=True):
            row = found[200, family, (one, "nothing")]
            assert np.exp(z) == pytest.approx(np.clip(row.ratio, 1 / figures.UNTIL, figures.UNTIL))
    points = numbers["leaderboard"]["50"]["traces"][0]
    assert points["x"] == pytest.approx(
        [min(row.ratio, figures.UNTIL) for row in rows if (row.horizon, row.family, row.told) == (50, ALL, "nothing")]
    )


def test_plotly_knows_everything_that_is_asked_of_it(rows):
    import plotly.graph_objects as go

    charts = chart_data(rows)
    for told in TOLD:
        go.Figure(data=charts["families"][told]["200"]["traces"], layout=charts["families"][told]["200"]["layout"])
    go.Figure(data=charts["leaderboard"]["50"]["traces"], layout=charts["leaderboard"]["50"]["layout"])


def test_names_from_a_file_stay_text():
    rows = standings(games(rivals=[HOSTILE]))
    outline = Outline(render(rows, seed=7))
    assert outline.open == []
    assert len(outline.scripts) == 3
    assert not outline.of("img")
    assert HOSTILE in outline.texts
    labels = numbers_of(outline)["leaderboard"]["200"]["layout"]["yaxis"]["ticktext"]
    assert not any("<" in label for label in labels)  # plotly would take it for a tag
    plots.drawn(figures.leaderboard(rows), ".png")  # no formula begins
    assert any("\\$" in label.get_text() for label in figures.families(rows).axes[0].get_yticklabels())


def test_the_figures_name_everybody_and_draw_a_panel_per_horizon(rows):
    board, maps, wrong = figures.leaderboard(rows), figures.families(rows), figures.wrongly(rows)
    assert [len(figure.axes) for figure in (board, maps, wrong)] == [2, 2, 2]
    assert {label.get_text() for label in board.axes[0].get_yticklabels()} == {row.rule for row in rows}
    assert [label.get_text() for label in maps.axes[-1].get_xticklabels()] == list(FAMILIES)
    bold = [label.get_text() for label in maps.axes[0].get_yticklabels() if label.get_fontweight() == "bold"]
    assert bold == [figures.name_of(DEFAULT)]
    assert figures.wrongly([row for row in rows if row.told == "nothing"]) is None


def test_fields_alone_have_figures_and_a_page_too(rows):
    alone = standings([game for game in games() if game.family == "field mine" and game.number == 0])
    assert figures.group_of(alone) == "all fields"
    assert "1 real field" in render(alone, seed=7)
    plots.drawn(figures.leaderboard(alone), ".png")
    assert len(figures.families(alone).axes[0].get_yticklabels()) == sum(
        (row.horizon, row.family) == (50, "field mine") and row.told in ("nothing", "everything") for row in alone
    )
    (row,) = (row for row in alone if (row.horizon, row.family, row.contestant) == (50, "field mine", DEFAULT))
    assert compared(row) == "+0 %"
    wide = row._replace(difference=0.5, difference_low=-2.5, difference_high=3.5)
    assert compared(wide) == "+50 % (-100 to +350)"


def test_without_anybody_told_everything_there_is_a_report_of_differences():
    rows = standings([game for game in games(rivals=["A peer"]) if game.told == "nothing"])
    assert all(np.isnan(row.ratio) for row in rows)
    page = render(rows, seed=7)
    assert "After 200 decisions there is no ratio: the best rule told the right prior has not played." in page
    assert "rivals told nothing" in page
    assert (
        figures.rules(rows, 200, ALL)[0]
        == min((row for row in rows if (row.horizon, row.family) == (200, ALL)), key=lambda row: row.difference).rule
    )
    assert figures.leaderboard(rows) is figures.families(rows) is None


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium here")
def test_a_browser_draws_every_figure_under_the_page_s_own_rules(html, tmp_path):
    place = tmp_path / "page.html"
    place.write_text(html, encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--enable-logging=stderr"]
    command = ["chromium", *options, "--virtual-time-budget=5000", "--dump-dom", place.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert "CONSOLE" not in done.stderr
    drawn = done.stdout[done.stdout.index("<main>") : done.stdout.index("</main>")]
    assert drawn.count("js-plotly-plot") == 2
    assert 'data-horizon="50" hidden=""' in drawn
