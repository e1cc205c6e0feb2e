"""The page and the figures of a comparison."""

import itertools
import re

import numpy as np
import pytest

from corrbandits import plots
from corrbandits.fits import figures
from corrbandits.fits.page.charts import LEAST, chart_data
from corrbandits.fits.page.html import TITLE, render
from corrbandits.fits.standings import standings
from tests.fits.test_standings import outcomes
from tests.support.pages import Outline, numbers_of

HOSTILE = "$\\foo{$ </script><script>alert(1)</script><img src=x onerror=alert(2)> & \"quoted\" 'too'"


@pytest.fixture(scope="module")
def found():
    return standings(outcomes())


@pytest.fixture(scope="module")
def html(found):
    return render(found, words={"wide": "sees far"})


def test_the_page_is_whole_and_accessible(found, html):
    outline = Outline(html)
    assert outline.open == []
    assert TITLE in outline.texts
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
    drawn = [attrs for attrs in outline.of("div") if attrs.get("class", "").startswith("chart ")]
    assert all(attrs["role"] == "img" and len(attrs["aria-label"]) > 30 for attrs in drawn)
    assert [attrs["value"] for attrs in outline.of("input") if "checked" in attrs] == ["wide"]
    addresses = [value for _, attrs in outline.tags for name, value in attrs.items() if name in ("src", "href")]
    assert all(address.startswith("data:") for address in addresses)
    assert "sees far" in outline.texts
    assert render(found, words={"wide": "sees far"}) == html


def test_the_numbers_in_the_figures_are_those_of_people(found, html):
    numbers = numbers_of(Outline(html))
    assert set(numbers["parameters"]) == {"wide", "narrow"}
    points = numbers["models"]["traces"][0]
    own = found.outcomes["wide"]
    assert points["x"] == pytest.approx([max(one.share_explained, LEAST) for one in own])
    lengths = numbers["parameters"]["wide"]["length"]["traces"][0]
    shown = [(x, one.values["length"]) for x, one in zip(lengths["x"], own, strict=True)]
    assert sum(x == pytest.approx(value) for x, value in shown) >= 0.9 * len(shown)
    assert lengths["marker"]["color"].count("#9a9a9a") == 1  # the one at an end


def test_a_note_is_told_once_with_the_people_it_is_of(html):
    texts = Outline(html).texts
    (place,) = (k for k, text in enumerate(texts) if text.startswith("wide: length runs to its lower end: no arm"))
    assert texts[place + 1] == "1 person: p0"


def test_plotly_knows_everything_that_is_asked_of_it(found):
    import plotly.graph_objects as go

    charts = chart_data(found)
    go.Figure(data=charts["models"]["traces"], layout=charts["models"]["layout"])
    for figure in charts["parameters"]["wide"].values():
        go.Figure(data=figure["traces"], layout=figure["layout"])


def test_names_from_a_file_stay_text():
    found = standings([one._replace(person=HOSTILE + one.person) for one in outcomes()])
    outline = Outline(render(found))
    assert outline.open == []
    assert len(outline.scripts) == 3
    assert not outline.of("img")
    words = numbers_of(outline)["models"]["traces"][0]["hovertext"]
    assert not any("<script" in text for text in words)
    plots.drawn(figures.models(found), ".png")


def test_the_figures_show_every_model_and_every_free_parameter(found):
    drawn, spread = figures.models(found), figures.parameters(found)
    assert [label.get_text() for label in drawn.axes[0].get_yticklabels()] == ["wide", "narrow"]
    titles = [ax.get_title(loc="left") for ax in spread.axes if ax.axison]
    assert [title.split(":")[0] for title in titles] == ["length", "temperature"]
    counted = sum(patch.get_height() for ax in spread.axes[:1] for patch in ax.patches[: len(ax.patches) // 2])
    assert counted == 29  # in colour: all but the one at an end
    assert len(figures.parameters(found, "narrow").axes) == 1


def test_one_person_and_values_that_are_all_alike_are_drawn():
    alike = [one._replace(values=dict.fromkeys(one.values, 1.0)) for one in outcomes(people=1)]
    plots.drawn(figures.parameters(standings(alike)), ".png")
    plots.drawn(figures.models(standings(alike)), ".png")


def test_values_far_away_are_drawn_at_the_edge_and_it_is_seen():
    each = standings(outcomes(people=50)).outcomes["wide"]
    far = [each[0]._replace(values={"length": 1e-30, "temperature": 1.0}, predicted=(-1e3, -1e3)), *each[1:]]
    values, sure, beyond = figures.in_view(far, "length")
    assert values.min() > 1e-6
    assert np.array_equal(sure, [False] + [True] * 49)
    assert beyond[0] == -1
    assert np.array_equal(
        values[beyond == 0], [one.values["length"] for one, side in zip(far, beyond, strict=True) if side == 0]
    )
    found = standings([*far, *(one._replace(model="other") for one in each)])
    panel = figures.parameters(found, "wide").axes[0]
    assert f"← {(beyond == -1).sum()} farther" in [text.get_text() for text in panel.texts]
    charts = chart_data(found)
    for chart in (charts["parameters"]["wide"]["length"], charts["models"]):
        assert any("triangle-left" in trace.get("marker", {}).get("symbol", []) for trace in chart["traces"])
