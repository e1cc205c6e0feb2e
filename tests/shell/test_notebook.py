"""What notebooks show: whole elements, no scripts, nothing unescaped, and the numbers that the objects have."""

from html.parser import HTMLParser

import numpy as np
import pytest

import corrbandits as cb
from corrbandits._shell import notebook
from corrbandits._shell.notebook.pictures import colour

NASTY = '<script>alert("1")</script>'


class Elements(HTMLParser):
    """The elements of a text, each of which must be closed."""

    def __init__(self, text):
        super().__init__()
        self.names, self.open, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.names.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture
def study(tmp_path):
    places = [(x, y) for x in range(4) for y in range(3)]
    arms = {"name": [f"{NASTY}{k}" for k in range(12)], "x": [x for x, _ in places], "y": [y for _, y in places]}
    with cb.Study.create(f"{tmp_path}/survey.db", NASTY, arms=arms, rounds=40) as made:
        yield made


def told(study, rewards):
    rng = np.random.default_rng(0)
    for _ in range(rewards):
        trial = study.ask()
        study.tell(trial, round(30.0 + trial.arm + rng.standard_normal(), 1))


def test_a_study_is_shown_with_a_map_and_its_best_arms(study):
    assert "svg" not in Elements(study._repr_html_()).names
    told(study, 8)
    shown = Elements(study._repr_html_())
    assert shown.names.count("rect") >= 12
    assert "script" not in shown.names
    best = study.best()
    assert best.name in shown.texts
    assert f"{best.mean:.4g}" in shown.texts


@pytest.mark.parametrize("what", ["belief", "best", "explanation", "opening"])
def test_what_a_study_says_is_shown_without_scripts(study, what):
    told(study, 8)
    made = {
        "belief": lambda: study.belief,
        "best": study.best,
        "explanation": lambda: study.explain(8),
        "opening": lambda: study.explain(1),
    }[what]()
    shown = Elements(made._repr_html_())
    assert "script" not in shown.names
    assert NASTY not in made._repr_html_()


def test_a_trace_shows_the_regret_of_each_policy():
    bandit = cb.GaussianBandit(means=[0.0, 1.0], noise_variance=1.0)
    flat = cb.Independent(noise_variance=1.0, arms=2)
    trace = cb.simulate({"flat": (cb.UCL(), flat), "<b>": (cb.UCL(a=3.3), flat)}, bandit, horizon=50, runs=4, seed=0)
    shown = Elements(trace._repr_html_())
    assert {"polyline", "polygon", "table"} <= set(shown.names)
    assert "b" not in shown.names[3:]
    assert f"{float(trace.regret.mean('run').sel(policy='flat')[-1]):.4g}" in shown.texts


def test_a_plot_is_of_what_is_believed_now(study):
    told(study, 8)
    figure = study.plot()
    picture = figure.axes[0].images[-1].get_array()
    assert np.allclose(np.sort(picture.compressed()), np.sort(study.belief.mean))


def test_beliefs_without_places_or_on_a_line_are_shown_too():
    flat = cb.Independent(noise_variance=1.0, arms=3).observe([0, 1], [1.0, 2.0])
    assert "svg" not in Elements(flat._repr_html_()).names
    line = cb.Vague(coordinates=range(10)).observe([5, 0, 9, 2, 7], [31.0, 25.0, 27.0, 29.0, 30.0])
    assert "polyline" in Elements(line._repr_html_()).names


def test_scattered_arms_are_points_within_the_picture():
    where = np.random.default_rng(1).uniform(0, 10, (50, 2))
    text = notebook.field(where[:, 0], where[:, 1], where[:, 0], "a map", best=3)
    assert text.count('width="9.0"') == 50


def test_many_arms_are_not_drawn():
    x = np.arange(5000.0)
    assert notebook.field(x, x, x, "a map") == ""


def test_colours_are_those_of_matplotlib():
    from matplotlib import colormaps

    for share in np.linspace(0, 1, 23):
        ours = [int(colour(share)[k : k + 2], 16) for k in (1, 3, 5)]
        theirs = [255 * c for c in colormaps["viridis"](share)[:3]]
        assert np.allclose(ours, theirs, atol=13)
