"""One vocabulary: sentences, figures, charts and page say the same of every setting, in the same words and numbers."""

import json
import re
from html import unescape

import numpy as np
import pytest

from corrbandits._shell.numbers import number
from corrbandits.stress import StressTest, figures, panels
from corrbandits.stress.names import changes
from corrbandits.stress.page import render
from corrbandits.stress.page.charts import chart_data
from tests.support.synthetic_stress import synthetic

RATIOS = (0.5, 0.979, 0.981, 0.985, 0.9999, 1.0, 1.0001, 1.015, 1.019, 1.022, 1.04, 3.0)
LEVEL = 100.0


def judged(ratio):
    """Return the verdict by the rule of the page, written once more."""
    regret = LEVEL * ratio
    if abs(regret - LEVEL) <= 0.02 * max(regret, LEVEL):
        return "makes no difference"
    return "helps" if regret < LEVEL else "hurts"


def around_the_thresholds(given, at_times=()):
    """Return a test whose ratios are those above, setting after setting; the prior as given has one of its own."""
    data = synthetic(candidate="printed")
    names, regret = data["candidate"].values.tolist(), data["regret"].values.copy()
    settings = panels.settings(data)
    as_given = next(j for j, setting in enumerate(settings) if changes(setting) == ["as given"])
    for i, name in enumerate(names):
        for j in range(len(settings)):
            ratio = 1.0 if name == "uninformative" else RATIOS[(j + 5 * i) % len(RATIOS)]
            regret[i, j][~np.isnan(regret[i, j])] = LEVEL * ratio
    for k, ratio in enumerate(at_times or [given] * data.sizes["time"]):
        regret[names.index("printed"), as_given, :, k] = LEVEL * ratio
    return StressTest(data.assign(regret=(data["regret"].dims, regret)))


@pytest.fixture(scope="module")
def test():
    return around_the_thresholds(0.985)


def cells(test, charts, candidate, time):
    """Yield the setting, the ratio by hand, the hover text and the label of every cell of the maps."""
    data = test.data
    regret = data["regret"].sel(candidate=candidate, time=time).values.mean(axis=1)
    for grid in panels.pair_grids(data):
        trace = charts["maps"][candidate][str(time)][grid.name][0]
        for (row, column), j in np.ndenumerate(grid.settings):
            yield (
                panels.settings(data)[j],
                regret[j] / LEVEL,
                trace["hovertext"][row][column],
                trace["text"][row][column],
            )


def test_charts_give_every_setting_the_verdict_of_its_regret(test):
    charts, seen = chart_data(test), set()
    for candidate in ("printed", "plain"):
        for time in test.data["time"].values.tolist():
            for setting, ratio, hover, label in cells(test, charts, candidate, time):
                assert hover.startswith(f"<b>{', '.join(changes(setting))}</b>")
                assert hover.endswith(f"{number(ratio, 4)} times the uninformative prior's: it {judged(ratio)}")
                written = float(label)
                assert judged(ratio) == ("helps" if written < 0.98 else "hurts" if written > 1.0204 else judged(1.0))
                seen.add((round(ratio, 4), judged(ratio)))
    assert seen == {(ratio, judged(ratio)) for ratio in RATIOS}


def test_the_sentence_above_the_maps_counts_what_the_maps_say(test):
    charts = chart_data(test)
    for candidate in ("printed", "plain"):
        found = {setting: hover for setting, _, hover, _ in cells(test, charts, candidate, 1_000)}
        counted = [sum(hover.endswith(f"it {what}") for hover in found.values()) for what in ("helps", "hurts")]
        said = charts["said"][candidate]["1000"]
        assert f": it helps at {counted[0]} and hurts at {counted[1]} of {len(found)} settings;" in said


def test_figures_label_every_cell_as_the_charts_do(test):
    charts = chart_data(test)
    shown = iter(ax for ax in figures.grids(test).axes if ax.images)
    for candidate in ("printed", "plain"):
        for grid in panels.pair_grids(test.data):
            labels = [text.get_text() for text in next(shown).texts]
            assert labels == [text for row in charts["maps"][candidate]["1000"][grid.name][0]["text"] for text in row]


@pytest.mark.parametrize("ratio", RATIOS)
def test_sentences_give_the_prior_as_given_the_verdict_of_the_charts(ratio):
    test = around_the_thresholds(ratio)
    hover = next(
        hover for setting, _, hover, _ in cells(test, chart_data(test), "printed", 1_000) if setting == given_of(test)
    )
    assert hover.endswith(f"it {judged(ratio)}")
    assert re.match(rf"Your prior {judged(ratio)}[,;]", test.sentences()[0])
    assert test.findings()["verdict"] == judged(ratio)


def given_of(test):
    return next(setting for setting in panels.settings(test.data) if changes(setting) == ["as given"])


def test_sentences_name_the_times_at_which_the_charts_say_the_same():
    by_time = (0.985, 0.9, 1.1, 1.015, 0.9)
    test = around_the_thresholds(0.9, by_time)
    charts, times = chart_data(test), test.data["time"].values.tolist()
    for time, ratio in zip(times, by_time, strict=True):
        hovers = {setting: hover for setting, _, hover, _ in cells(test, charts, "printed", time)}
        assert hovers[given_of(test)].endswith(f"it {judged(ratio)}")
    assert "It helps at t = 32, 1,000 and hurts at t = 100." in test.sentences()


@pytest.mark.parametrize("ratio", RATIOS)
def test_of_ranges_sentences_say_that_they_are_safe_and_no_verdict(ratio):
    """Inside a range no setting costs more than the uninformative prior, or none less: what is safe never hurts."""
    test = around_the_thresholds(ratio)
    found, sentences = test.findings(), test.sentences()
    verdicts = [f"Your prior {judged(ratio)}", f"It {judged(ratio)} at"]
    for sentence in sentences:
        if not sentence.startswith(tuple(verdicts)):
            assert not re.search(r"\b(helps|hurts)\b", sentence), sentence
    names = test.data["candidate"].values.tolist()
    regret = test.data["regret"].values[names.index("printed"), ..., -1].mean(axis=1)
    for factor in ("shift", "scale", "noise", "swap"):
        low, high = found[f"{factor}_low"], found[f"{factor}_high"]
        curve = next(curve for curve in panels.curves(test.data) if curve.factor == factor)
        for x, j in zip(curve.x, curve.settings, strict=True):
            if (low is None or x > low) and (high is None or x < high):
                assert (regret[j] <= LEVEL) == (ratio <= 1)
                assert judged(regret[j] / LEVEL) != ("hurts" if ratio <= 1 else "helps")


def test_the_page_says_what_the_sentences_and_charts_say(test):
    page = render(test)
    text = unescape(page)
    for sentence in test.sentences():
        assert sentence in text
    numbers = json.loads(re.search(r'id="numbers">(.*?)</script>', page, re.DOTALL)[1])
    assert numbers == json.loads(json.dumps(chart_data(test)))
    assert "below 0.98 it helps, above 1.02 it hurts, and in between it makes no difference." in text


def test_intervals_are_those_of_the_csv_everywhere():
    test = StressTest(synthetic(candidate="printed"))
    rows = {(row.candidate, *row[1:5]): row for row in test.rows if row.time == 1_000}
    charts, band = chart_data(test), panels.bands(test).isel(time=-1)
    for candidate in ("printed", "plain"):
        for setting, _, hover, _ in cells(test, charts, candidate, 1_000):
            row = rows[(candidate, *setting)]
            mean, low, high = (number(x, 4) for x in (row.mean, row.low, row.high))
            assert f"regret {mean} reward ({low} to {high})" in hover
            at = band.sel(candidate=candidate).isel(setting=panels.settings(test.data).index(setting))
            assert [at[part].item() for part in ("mean", "low", "high")] == [row.mean, row.low, row.high]
    page, said = render(test), test.sentences()[-1]
    for corner in panels.corners(test.data):
        setting = panels.settings(test.data)[corner]
        for candidate in ("fixed", "elimination", "refitting"):
            row = rows[(candidate, *setting)]
            assert f">{number(row.mean)} ({number(row.low)} to {number(row.high)})</td>" in page
    worst = {name: max(row.mean for key, row in rows.items() if key[0] == name) for name in ("fixed", "elimination")}
    assert (
        f"{number(worst['fixed'])} with the prior held fixed, {number(worst['elimination'])} with elimination" in said
    )


@pytest.mark.parametrize("only", [False, True])
def test_every_candidate_has_one_name(only):
    data = synthetic(candidate="plain" if only else "printed")
    test = StressTest(data.sel(candidate=["plain", "uninformative"]) if only else data)
    names = ["policy"] if only else ["printed index", "plain index"]
    page, sentences = render(test), " ".join(test.sentences())
    legend = {text.get_text() for text in figures.curves(test).legends[0].get_texts()}
    titles = {ax.get_title(loc="left") for ax in figures.grids(test).axes if ax.get_title(loc="left")}
    assert titles == set(names)
    others = {"uninformative prior"} | (set() if only else {"elimination", "refitting"})
    assert legend == {*names, *others}
    choices = re.search(r"<legend>Policy</legend>(.*?)</fieldset>", page, re.DOTALL)[1]
    assert [name for name in names if f"> {name}" in choices] == names
    assert set(chart_data(test)["said"]) == ({"plain"} if only else {"printed", "plain"})
    for time, said in next(iter(chart_data(test)["said"].values())).items():
        assert said.startswith(f"{names[0].capitalize()}, after {int(time):,} decisions")
    found = test.findings()
    assert f"the {'policy' if only else found['safest_candidate'] + ' index'} with " in sentences
    assert ("plain index" in sentences + page) is not only


def test_the_page_has_the_name_of_the_field_and_every_cell_of_a_table_its_heading(test):
    page = render(test, "north <field>")
    assert "<h1>north &lt;field&gt;: what a wrong prior costs</h1>" in page
    assert "<title>north &lt;field&gt;: what a wrong prior costs</title>" in page
    assert "<h1>What a wrong prior costs</h1>" in render(test)
    table = re.search(r'<table class="fit">(.*?)</table>', page, re.DOTALL)[1]
    heads = re.findall(r'<th scope="col">(.*?)</th>', table)
    rows = re.findall(r"<tr>(<td.*?)</tr>", table)
    assert rows
    assert all(re.findall(r'<td data-head="(.*?)">', row) == heads for row in rows)  # narrow screens show these
