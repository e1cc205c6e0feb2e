"""Figures: what is drawn is what was found."""

import numpy as np

from corrbandits import choices
from corrbandits.choices import Confusion, Power, Recovery

RNG = np.random.default_rng(0)


def test_given_and_found_are_drawn_and_errors_below():
    given = RNG.normal(size=(9, 3))
    recovery = Recovery(("length", "exploration", "lapse"), given, given + RNG.normal(size=(9, 3)))
    axes = choices.draw_recovery(recovery).axes
    assert len(axes) == 6
    dots = axes[0].lines[1]
    np.testing.assert_array_equal(dots.get_xdata(), given[:, 0])
    np.testing.assert_array_equal(dots.get_ydata(), recovery.found[:, 0])
    errors = axes[1].lines[-1]
    np.testing.assert_array_equal(errors.get_xdata(), (recovery.found - given)[:, 0])
    np.testing.assert_array_equal(errors.get_ydata(), (recovery.found - given)[:, 1])
    assert [ax.get_xlabel() for ax in axes if ax.get_xlabel().endswith("given")] == [
        "log length given",
        "exploration given",
        "log odds of lapse given",
    ]


def test_no_title_is_cut():
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    names = ("prior_mean", "exploration", "temperature")
    figure = choices.draw_recovery(Recovery(names, RNG.normal(size=(9, 3)), RNG.normal(size=(9, 3))))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    for ax in figure.axes:
        box = ax.title.get_window_extent(canvas.get_renderer())
        assert 0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1


def test_a_confusion_is_drawn_as_its_matrix():
    ax = choices.draw_confusion(Confusion(("a", "b"), RNG.normal(size=(2, 10, 2)))).axes[0]
    drawn = ax.images[0].get_array()
    assert drawn.sum(axis=1).tolist() == [1.0, 1.0]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["a", "b"]


def test_power_is_drawn_as_a_line_for_each_number_of_rounds():
    table = Power((5, 40), (1, 8), np.array([[0.1, 0.4], [0.3, 1.0]]), sure=0.9)
    ax = choices.draw_power(table).axes[0]
    assert [line.get_label() for line in ax.lines] == ["1 round", "8 rounds"]
    np.testing.assert_array_equal([line.get_ydata() for line in ax.lines], table.share.T)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [5, 40])
