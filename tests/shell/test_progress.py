"""Progress bars in notebooks: drawn once the work is long, in one place, to the end."""

import sys
from types import ModuleType

import pytest

from corrbandits._shell import progress


class Shown:
    def __init__(self, texts):
        self.texts = texts

    def update(self, drawn):
        self.texts.append(drawn)


@pytest.fixture
def texts(monkeypatch):
    """What a kernel would show."""
    found = []
    fake = ModuleType("IPython.display")
    fake.HTML = str
    fake.display = lambda drawn, display_id: (found.append(drawn), Shown(found))[1]
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", fake)
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    return found


def test_long_work_is_drawn_in_one_place_until_it_is_done(texts, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(progress, "REDRAW_SECONDS", 0.0)
    with progress.bar(4, label="<playing>") as done:
        for k in range(5):
            done(k)
    assert len(texts) == 4
    assert texts[-1] == '<progress max="4" value="4"></progress> &lt;playing&gt; 100%'
    assert "left" in texts[0]


def test_short_work_is_not_drawn(texts):
    with progress.bar(4) as done:
        done(4)
    assert texts == []


def test_nobody_is_shown_a_bar_that_was_not_wanted(texts, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.0)
    with progress.bar(4, wanted=False) as done:
        done(4)
    assert texts == []
