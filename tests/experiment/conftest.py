"""Experiments out of texts."""

import pytest

from corrbandits.experiment import load
from tests.support.experiment_files import PLAIN, SITES, SMALL


@pytest.fixture
def read(tmp_path):
    """Return a function that loads an experiment from text, with sites.csv beside it."""
    (tmp_path / "sites.csv").write_text(SITES)

    def from_text(text):
        path = tmp_path / "experiment.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load(path)

    return from_text


@pytest.fixture
def small(read):
    return lambda **parts: read(SMALL.format(**{**PLAIN, **parts}))
