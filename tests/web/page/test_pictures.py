"""The pictures of the documents are made by a command, and show the page as it is."""

import re

import pytest
from PIL import Image

from tests.support import ROOT, script


@pytest.mark.slow
def test_the_pictures_are_made_as_large_as_those_that_are_kept(browser, tmp_path):
    script("docs/page.py").pictures(browser, tmp_path)
    shown = re.findall(r"\((page-\w+\.png)\)", (ROOT / "docs" / "page.md").read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(path.name for path in tmp_path.glob("*.png"))
    for name in shown:
        with Image.open(tmp_path / name) as made, Image.open(ROOT / "docs" / name) as kept:
            assert made.width == kept.width
            assert abs(made.height - kept.height) <= 40
