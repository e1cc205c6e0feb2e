"""What is saved comes back, whole and the same; what is asked wrongly is refused."""

import pickle
import signal
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from corrbandits import UCL, BernoulliBandit, GaussianBandit, Independent, Trace, simulate
from corrbandits._shell import outputs

BANDIT = GaussianBandit([0.0, 1.0, 2.0], 1.0, coordinates=[[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
FLAT = Independent(noise_variance=1.0, arms=3)


def traced(*names, environment=BANDIT):
    return simulate({name: (UCL(a=1.0), FLAT) for name in names}, environment, horizon=30, runs=3, seed=5)


@pytest.mark.parametrize("names", [("one",), ("one", "another, longer"), ("ü €", "_x")])
def test_a_loaded_trace_is_the_one_saved(tmp_path, names):
    trace = traced(*names)
    trace.save(tmp_path / "trace.nc")
    loaded = Trace.load(tmp_path / "trace.nc")
    xr.testing.assert_identical(loaded.data, trace.data)
    assert loaded.data.attrs == trace.data.attrs
    assert {k: type(v) for k, v in loaded.data.attrs.items()} == {k: type(v) for k, v in trace.data.attrs.items()}
    assert {k: v.dtype for k, v in loaded.data.variables.items()} == {
        k: v.dtype for k, v in trace.data.variables.items()
    }
    assert isinstance(loaded.data.attrs["rules"], list)


def test_the_same_trace_gives_the_same_bytes():
    assert bytes(traced("one").to_netcdf()) == bytes(traced("one").to_netcdf())


def test_a_trace_can_be_pickled():
    trace = traced("one", "two")
    copy = pickle.loads(pickle.dumps(trace))
    xr.testing.assert_identical(copy.data, trace.data)
    np.testing.assert_array_equal(copy.regret, trace.regret)


@pytest.mark.parametrize("quantity", ["foo", "data", "save", None, ["regret"]])
def test_a_band_of_something_else_is_refused_with_what_there_is(quantity):
    with pytest.raises(ValueError, match="one of arms, rewards, counts, initialisation, regret, moves, got"):
        traced("one").band(quantity)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 2.0, np.nan])
def test_a_level_without_an_interval_is_refused(level):
    with pytest.raises(ValueError, match="level must be above 0"):
        traced("one").band(level=level)


def test_a_file_that_is_no_trace_is_refused(tmp_path):
    (tmp_path / "text.nc").write_text("not NetCDF")
    with pytest.raises(ValueError, match="not a NetCDF file that can be read"):
        Trace.load(tmp_path / "text.nc")
    xr.Dataset({"x": 1}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(ValueError, match="not a saved trace"):
        Trace.load(tmp_path / "other.nc")
    with pytest.raises(FileNotFoundError, match=r"there is no file .*missing\.nc"):
        Trace.load(tmp_path / "missing.nc")


def test_arms_that_tie_cost_nothing():
    tied = BernoulliBandit([0.1, 0.3, 0.1 + 0.2])
    trace = traced("one", environment=tied)
    per_step = np.diff(trace.regret.values, prepend=0.0)
    assert (per_step[trace.arms.values > 0] == 0).all()
    np.testing.assert_allclose(per_step[trace.arms.values == 0], 0.2)


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    trace = traced("one")
    trace.save(tmp_path / "trace.nc")
    before = (tmp_path / "trace.nc").read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(outputs.os, "fsync", full)
    with pytest.raises(OSError, match=r"trace\.nc cannot be written: No space left on device\. Make room"):
        traced("one", "two").save(tmp_path / "trace.nc")
    assert [p.name for p in tmp_path.iterdir()] == ["trace.nc"]
    assert (tmp_path / "trace.nc").read_bytes() == before


# summaries


def summarised(*names, times=None):
    players = {name: (UCL(a=1.0), FLAT) for name in names}
    return simulate(players, BANDIT, horizon=30, runs=3, seed=5, record="summary", times=times)


@pytest.mark.parametrize("times", [None, [30], [4, 7, 20]])
def test_a_loaded_summary_is_the_one_saved(tmp_path, times):
    trace = summarised("one", "two", times=times)
    trace.save(tmp_path / "trace.nc")
    loaded = Trace.load(tmp_path / "trace.nc")
    xr.testing.assert_identical(loaded.data, trace.data)
    assert loaded.data.attrs == trace.data.attrs
    assert loaded.horizon == 30
    np.testing.assert_array_equal(loaded.regret, trace.regret)
    assert loaded.data["regret"].dtype == np.float64


def test_a_summary_says_what_it_has_not():
    trace = summarised("one")
    for name in ("arms", "rewards"):
        with pytest.raises(AttributeError, match=rf"but not the {name}\. Simulate again with record='full'"):
            getattr(trace, name)
        with pytest.raises(ValueError, match=f"one of counts, initialisation, regret, got '{name}'"):
            trace.band(name)


def test_a_summary_has_the_bands_and_quantiles_of_the_full_record():
    times = [1, 8, 30]
    full, summary = traced("one", "two"), summarised("one", "two", times=times)
    for level in (0.5, 0.95):
        xr.testing.assert_identical(summary.band(level=level), full.band(level=level).sel(time=times))
    wanted = full.regret.quantile([0.1, 0.5, 0.9], "run").sel(time=times)
    np.testing.assert_array_equal(summary.regret.quantile([0.1, 0.5, 0.9], "run"), wanted)
    xr.testing.assert_identical(summary.band("counts"), full.band("counts"))


def test_a_trace_saved_before_it_said_its_horizon_has_one():
    old = traced("one").data
    del old.attrs["horizon"]
    assert Trace(old).horizon == 30


# the files of a command: all or none


def test_files_are_put_in_place_together(tmp_path):
    (tmp_path / "a").write_text("old")
    with outputs.results(tmp_path) as files:
        files.write("a", b"new")
        files.write("b", b"new")
        assert (tmp_path / "a").read_text() == "old"
        assert not (tmp_path / "b").exists()
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"a": "new", "b": "new"}


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_what_stops_between_two_files_leaves_the_old_ones(tmp_path, error):
    (tmp_path / "a").write_text("old")

    def work():
        with outputs.results(tmp_path) as files:
            files.write("a", b"new")
            raise error

    with pytest.raises(error):
        work()
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"a": "old"}


def test_ctrl_c_while_files_are_put_in_place_waits_for_the_last(tmp_path, monkeypatch):
    replace = Path.replace

    def replace_and_interrupt(self, target):
        signal.raise_signal(signal.SIGINT)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", replace_and_interrupt)

    def work():
        with outputs.results(tmp_path) as files:
            files.write("a", b"new")
            files.write("b", b"new")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"a": "new", "b": "new"}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_link_is_written_through(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "real")
    outputs.write_file(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "elsewhere" / "real").read_text() == "new"


def test_what_is_no_file_is_not_replaced(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(ValueError, match="must be a file or not be there"):
        outputs.write_file(tmp_path / "a", b"new")
    (tmp_path / "null").symlink_to("/dev/null")
    with pytest.raises(ValueError, match="must be a file or not be there"):
        outputs.write_file(tmp_path / "null", b"new")


def test_an_input_is_not_replaced_even_under_another_name(tmp_path):
    (tmp_path / "input").write_text("mine")
    (tmp_path / "x.nc").symlink_to(tmp_path / "input")

    def work():
        with outputs.results(tmp_path, inputs=[tmp_path / "input"]) as files:
            files.write("x.nc", b"new")

    with pytest.raises(ValueError, match=r"x\.nc is what the results come from and must stay"):
        work()
    assert (tmp_path / "input").read_text() == "mine"


def test_a_users_own_files_survive_the_trial_of_a_directory(tmp_path):
    (tmp_path / ".writable").write_text("mine")
    outputs.make_directory(tmp_path)
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {".writable": "mine"}
