"""What the package is as a whole: light to import, typed, in layers, silent about where it was made."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import corrbandits
from tests.support import ROOT


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_heavy_libraries_load_only_when_used():
    loaded = json.loads(
        run(
            "import sys, json, corrbandits as cb\n"
            "cb.UCL, cb.Correlated, cb.Exponential, cb.GaussianBandit, cb.simulate, cb.Trace, cb.Thompson\n"
            "cb.landscapes, cb.theory, cb.plots, cb.adapters\n"
            "print(json.dumps(sorted(m for m in sys.modules if '.' not in m)))"
        )
    )
    heavy = {"scipy", "numba", "matplotlib", "xarray", "pandas", "h5py", "h5netcdf", "typer", "rich", "threadpoolctl"}
    heavy |= {"sqlalchemy", "psycopg", "gymnasium", "optuna"}
    assert heavy.isdisjoint(loaded)


def test_every_public_name_can_be_had_and_no_other():
    for name in corrbandits.__all__:
        assert getattr(corrbandits, name) is not None
    assert set(dir(corrbandits)) >= set(corrbandits.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'Arm'"):
        _ = corrbandits.Arm


def test_the_lock_file_has_hashes_and_no_address():
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in lock
    pins = re.findall(r"^\S+==\S+", lock, re.MULTILINE)
    assert len(pins) > 20
    assert lock.count("--hash=sha256:") >= len(pins)


def test_a_place_that_cannot_be_written_is_no_error(tmp_path):
    """Compiling without a cache is slower, not wrong: numba is shown a home and a package it cannot write to."""
    package = tmp_path / "site" / "corrbandits"
    package.parent.mkdir()
    package.symlink_to(Path(corrbandits.__file__).parent, target_is_directory=True)
    code = (
        "import numba.core.caching as caching\n"
        "caching.CacheImpl._locator_classes = []\n"  # no directory is offered, as where none can be written
        "from corrbandits.simulation.engines.compiled import kernels as compiled\n"
        "import numpy as np\n"
        "print(compiled.largest_limit(np.array([1.0, 3.0]), np.zeros(2), 1.0))"
    )
    assert run(code).strip() == "1"


def test_the_version_is_one():
    from importlib.metadata import version

    assert version("corrbandits") == corrbandits.__version__


def test_blas_is_held_to_one_thread_and_let_go():
    import threadpoolctl

    from corrbandits._core.single_thread import one_thread

    def threads():
        return {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"}

    np.linalg.inv(np.eye(2))
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        with one_thread(), one_thread():
            assert threads() == {1}
        assert threads() == {2}
