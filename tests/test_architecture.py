"""The page on architecture says what runs: its steps, in their order, its lists of modules, its figures."""

import numpy as np
import pytest
from matplotlib.image import imread

from tests.support import ROOT, script

ARCHITECTURE = script("docs/architecture.py")


@pytest.mark.parametrize("name", ARCHITECTURE.WALKS)
def test_a_walk_is_what_runs(name, tmp_path):
    walk = ARCHITECTURE.seen(name)
    named = ARCHITECTURE.steps(ARCHITECTURE.section(name))
    assert 7 <= len(named) <= 12
    assert list(walk.parents) == named, "the steps of the text are what runs, in this order"
    page = ARCHITECTURE.PAGE.read_text(encoding="utf-8")
    assert ARCHITECTURE.with_modules(page, name, walk) == page, "run: make refresh"
    row, column = ARCHITECTURE.rows(walk.parents), ARCHITECTURE.columns(walk.parents)
    assert all(row[step] > row[caller] for step, caller in walk.parents.items() if caller), "calls go down"
    assert len({(row[step], column[step]) for step in named}) == len(named), "every box has a place of its own"
    ARCHITECTURE.draw(walk, tmp_path / "walk.png")
    drawn, kept = imread(tmp_path / "walk.png"), imread(ROOT / "docs" / f"architecture-{name}.png")
    assert drawn.shape == kept.shape
    assert np.abs(drawn - kept).mean() < 0.01  # another build of the same fonts may shift a pixel
