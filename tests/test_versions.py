"""What another version left behind: its traces, studies and exports are read; its checkpoints and workers refused."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import astuple

import numpy as np
import pytest
from distributed.protocol.pickle import dumps

import corrbandits as cb
from corrbandits.belief import KINDS
from corrbandits.policies import RULES
from corrbandits.simulation.batches import Batch
from corrbandits.simulation.dask import of_version
from tests.support import ROOT, script

OLD = ROOT / "tests" / "data" / "0.1.0"
MADE = script("tests/data/0.1.0/make.py")
VERSIONS = ("0.1.0", "0.2.0")
SAID = {
    (version, name): said
    for version in VERSIONS
    for name, said in json.loads((OLD.parent / version / "said.json").read_text(encoding="utf-8")).items()
}


@pytest.fixture
def database(tmp_path):
    return lambda version: shutil.copy(OLD.parent / version / "studies.db", tmp_path)


def assert_says(study, said):
    found = MADE.answers(study)
    for numbers in ("mean", "variance"):
        expected = np.array(said[numbers], dtype=float)
        assert np.array(found.pop(numbers), dtype=float) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    best = found.pop("best", None)  # of equal means the first was named, now the one known best
    assert best is None or expected_mean(said, best) == expected_mean(said, said["best"])
    assert found == {name: value for name, value in said.items() if name in found}


def expected_mean(said, arm):
    return pytest.approx(float(said["mean"][arm]), rel=1e-12)


def test_the_old_studies_have_every_kind_of_prior_and_rule(database):
    url = database("0.1.0")
    found = [cb.Study.open(url, name) for version, name in SAID if version == "0.1.0"]
    assert {type(study.settings.prior).__name__ for study in found} <= set(KINDS)
    assert {type(study.settings.policy).__name__ for study in found} <= set(RULES)
    for study in found:
        study.close()


@pytest.mark.parametrize(("version", "name"), SAID)
def test_an_old_study_says_what_it_said_and_goes_on(database, version, name):
    study = cb.Study.open(database(version), name)
    assert_says(study, SAID[version, name])
    assert [trial.arm for trial in study.ask(2, repeats=True)] == SAID[version, name]["next"]
    study.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_an_old_export_is_taken_in(tmp_path, version):
    study = cb.Study.import_(tmp_path / "studies.db", OLD.parent / version / "correlated.jsonl")
    assert study.name == "correlated"
    assert_says(study, SAID[version, "correlated"])
    study.close()


@pytest.mark.parametrize(
    ("file", "record"), [("trace.nc", {}), ("summary.nc", {"record": "summary", "times": [1, 5, 12]})]
)
def test_an_old_trace_is_read_and_the_same_simulation_still_gives_it(file, record):
    trace = cb.Trace.load(OLD / file)
    assert trace.data.attrs["version"] == "0.1.0"
    again = cb.simulate(**MADE.ENSEMBLE, **record)
    assert trace.horizon == again.horizon == 12
    assert set(again.data.variables) <= set(trace.data.variables)
    for name in again.data.variables:
        if again.data[name].dtype.kind == "f":
            np.testing.assert_allclose(trace.data[name], again.data[name], rtol=1e-12, atol=1e-12)
        else:
            np.testing.assert_array_equal(trace.data[name], again.data[name])


def test_an_old_stress_test_is_read():
    result = cb.stress.StressTest.load(OLD / "stress.nc")
    assert result.data.attrs["version"] == "0.1.0"
    assert result.sentences()


def test_a_checkpoint_of_another_version_is_refused_by_version(tmp_path):
    there = shutil.copytree(OLD / "checkpoint", tmp_path / "checkpoint")
    with pytest.raises(ValueError, match=r"simulation: version of corrbandits '0\.1\.0' there, '[\d.]+' here\."):
        cb.simulate(**MADE.ENSEMBLE, checkpoint=there)


def test_a_worker_of_another_version_is_refused_by_version_wherever_its_modules_are(tmp_path):
    """The worker's corrbandits has none of our modules, so nothing that names one could be loaded there."""
    sent = of_version(cb.__version__), "played", astuple(Batch(0, 0, 1)), None
    (tmp_path / "corrbandits").mkdir()
    (tmp_path / "corrbandits" / "__init__.py").touch()
    (tmp_path / "corrbandits-0.1.0.dist-info").mkdir()
    (tmp_path / "corrbandits-0.1.0.dist-info" / "METADATA").write_text("Name: corrbandits\nVersion: 0.1.0\n")
    code = (
        "import sys, distributed.protocol.pickle as pickle\n"
        "run, *arguments = pickle.loads(sys.stdin.buffer.read())\n"
        "try: run(*arguments)\n"
        "except ValueError as error: print(error)"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    printed = subprocess.check_output([sys.executable, "-c", code], input=dumps(sent), env=environment, text=False)
    assert f"every worker must have corrbandits {cb.__version__}" in printed.decode()
    assert "has 0.1.0. Install the same version there." in printed.decode()
