"""What is saved is used again, bit for bit, whatever stopped the simulation; what is not of it is refused."""

import json
import os
import pickle
import re
import signal
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import simulate
from corrbandits._shell import outputs
from corrbandits.simulation import batches, checkpoint
from tests.support.databases import NEWLY, together

BANDIT = cb.GaussianBandit([0.0, 1.0, 2.0], 1.0)
FLAT = cb.Independent(noise_variance=1.0, arms=3)
JOINT = cb.Correlated(covariance=np.eye(3) + 1.0, noise_variance=1.0)
PLAYERS = {"flat": (cb.UCL(a=1.5), FLAT), "random": (cb.Uniform(), FLAT)}
FEW = {"policies": PLAYERS, "environment": BANDIT, "horizon": 30, "runs": 6, "seed": 2}


def same(one, other):
    assert set(one.data.variables) == set(other.data.variables)
    for name in one.data.variables:
        np.testing.assert_array_equal(one.data[name], other.data[name])


def files(directory):
    return {path.name: path.stat().st_mtime_ns for path in Path(directory).glob("*.npz")}


MORE = cb.Correlated(covariance=[[2, 1, 1, 0], [1, 2, 1, 0], [1, 1, 2, 0], [0, 0, 0, 2]], noise_variance=1.0)
MANY = {
    "policies": {"limits": (cb.CorrelatedUCL(a=1.5), MORE), "draws": (cb.Thompson(), MORE)},
    "environment": cb.GaussianBandit([0.0, 1.0, 2.0, 3.0], 1.0),
    "horizon": 60,
    "seed": 5,
    "engine": "reference",
}


def work(directory, place, begun, options, most=None):
    """Be one of the processes that work on a checkpoint, and at the end save the trace.

    Once there are `most` files it waits to be killed, however late that comes.
    """
    save = checkpoint.Checkpoint.save

    def save_and_wait(self, batch, recorded):
        save(self, batch, recorded)
        time.sleep(0 if most is None or len(files(directory)) < most else 300)

    checkpoint.Checkpoint.save = save_and_wait
    begun.set()
    simulate(**MANY, **options, checkpoint=directory).save(place)


@pytest.mark.parametrize("record", ["full", "summary"])
def test_killed_at_random_moments_it_resumes_and_gives_the_same_bits(tmp_path, record):
    """SIGKILL, again and again: some kills fall between two files and some into the writing of one."""
    options = {"runs": 150, "record": record}
    rng, kept, killed = np.random.default_rng([len(record)]), {}, 0
    for goal in (0, *np.sort(rng.integers(1, 250, 3)), 301):
        begun = NEWLY.Event()
        most = None if goal > 300 else goal + 20
        child = NEWLY.Process(target=work, args=(tmp_path / "saved", tmp_path / "trace.nc", begun, options, most))
        child.start()
        assert begun.wait(60)
        while child.is_alive() and len(files(tmp_path / "saved")) < goal:
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.01))
        child.kill()
        child.join()
        now = files(tmp_path / "saved")
        assert kept.items() <= now.items(), "a batch from before the kill was written again"
        kept, killed = now, killed + (child.exitcode == -signal.SIGKILL)
    assert (killed, child.exitcode, len(kept)) == (4, 0, 300)
    same(cb.Trace.load(tmp_path / "trace.nc"), simulate(**MANY, **options))


@pytest.mark.parametrize("record", ["full", "summary"])
@pytest.mark.parametrize("way", [{"threads": 2}, {"map": map}], ids=["threads", "map"])
def test_what_is_saved_is_not_played_again(tmp_path, monkeypatch, record, way):
    whole = simulate(**FEW, record=record, **way)
    same(simulate(**FEW, record=record, checkpoint=tmp_path / "new" / "saved", **way), whole)
    saved = files(tmp_path / "new" / "saved")
    assert len(saved) == 12
    lost = [name for name in saved if name.endswith(("-2.npz", "-5.npz"))]
    for name in lost:
        (tmp_path / "new" / "saved" / name).unlink()
    played = []
    play = batches.Simulation.play
    monkeypatch.setattr(
        batches.Simulation, "play", lambda self, batch, *rest: (played.append(batch), play(self, batch, *rest))
    )
    same(simulate(**FEW, record=record, checkpoint=str(tmp_path / "new" / "saved"), **way), whole)
    assert sorted(f"{b.player}-{b.first}-{b.last}.npz" for b in played) == sorted(lost)
    assert {name: when for name, when in files(tmp_path / "new" / "saved").items() if name not in lost} == {
        name: when for name, when in saved.items() if name not in lost
    }


OTHERS = [
    ({"horizon": 31}, "horizon 30 there, 31 here"),
    ({"runs": 7}, "runs 6 there, 7 here"),
    ({"seed": 3}, "seed 2 there, 3 here"),
    ({"record": "summary"}, "record 'full' there, 'summary' here"),
    ({"engine": "reference"}, "engine of 'flat' 'compiled' there, 'reference' here"),
    ({"environment": cb.GaussianBandit([0.0, 1.0, 2.1], 1.0)}, "another environment"),
    ({"policies": PLAYERS | {"flat": (cb.UCL(a=1.6), FLAT)}}, "another policy 'flat'"),
    ({"policies": PLAYERS | {"random": (cb.Uniform(), JOINT)}}, "another belief of 'random'"),
    ({"policies": {"flat": PLAYERS["flat"]}}, r"policies \['flat', 'random'\] there, \['flat'\] here"),
    ({"policies": dict(reversed(PLAYERS.items()))}, r"policies \['flat', 'random'\] there, \['random', 'flat'\] here"),
]


@pytest.mark.parametrize(("changes", "message"), OTHERS, ids=[message for _, message in OTHERS])
def test_the_checkpoint_of_another_simulation_is_refused_with_what_differs(tmp_path, changes, message):
    simulate(**FEW, checkpoint=tmp_path)
    before = files(tmp_path)
    with pytest.raises(ValueError, match=rf"is the checkpoint of another simulation: .*{message}.*Give the same"):
        simulate(**FEW | changes, checkpoint=tmp_path)
    assert files(tmp_path) == before


def test_runs_on_a_belief_told_little_go_on_and_another_belief_is_refused(tmp_path):
    def told(**more):
        return FEW | {"policies": {"mine": (cb.Gittins(30), cb.Vague(coordinates=range(3), parts=4, **more))}}

    whole = simulate(**told(), checkpoint=tmp_path)
    for path in sorted(tmp_path.glob("*.npz"))[::2]:
        path.unlink()
    same(simulate(**told(), checkpoint=tmp_path), whole)
    with pytest.raises(ValueError, match="another belief of 'mine'"):
        simulate(**told(length=(1.0, 2.0)), checkpoint=tmp_path)


def test_other_times_and_another_version_are_refused(tmp_path, monkeypatch):
    summary = FEW | {"record": "summary"}
    simulate(**summary, times=[5, 30], checkpoint=tmp_path)
    with pytest.raises(ValueError, match="simulation: other times"):
        simulate(**summary, times=[6, 30], checkpoint=tmp_path)
    monkeypatch.setattr("corrbandits.simulation.asking.version", lambda _: "9.9")
    with pytest.raises(ValueError, match=r"version of corrbandits '[\d.]+' there, '9.9' here"):
        simulate(**summary, times=[5, 30], checkpoint=tmp_path)


@pytest.mark.parametrize("content", ["{}", "[1]", "not JSON", '{"format": "corrbandits checkpoint 9"}', "[" * 100_000])
def test_a_description_of_something_else_is_refused(tmp_path, content):
    (tmp_path / "simulation.json").write_text(content)
    with pytest.raises(ValueError, match=r"simulation\.json must be written by corrbandits .* Name another directory"):
        simulate(**FEW, checkpoint=tmp_path)
    assert (tmp_path / "simulation.json").read_text() == content


def test_a_description_that_lacks_something_is_refused(tmp_path):
    simulate(**FEW, checkpoint=tmp_path)
    place = tmp_path / "simulation.json"
    for lacking in ("seed", "policies", "environment"):
        entries = json.loads(place.read_text())
        del entries[lacking]
        (tmp_path / lacking).mkdir()
        (tmp_path / lacking / place.name).write_text(json.dumps(entries))
        with pytest.raises(ValueError, match=f"{lacking} is not said there"):
            simulate(**FEW, checkpoint=tmp_path / lacking)


def test_a_directory_of_other_things_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"must be empty, new, or .* holds 'thesis\.txt'\. Name another"):
        simulate(**FEW, checkpoint=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    with pytest.raises(
        OSError, match=r"a checkpoint must be a directory .* but .*thesis\.txt is a file\. Name another"
    ):
        simulate(**FEW, checkpoint=tmp_path / "thesis.txt")
    with pytest.raises(OSError, match=r"runs cannot be written into .*below"):
        simulate(**FEW, checkpoint=tmp_path / "thesis.txt" / "below")


@pytest.mark.parametrize("name", [True, 3, b"x", ""])
def test_what_is_no_name_of_a_directory_is_refused(name):
    with pytest.raises(TypeError, match="checkpoint must be the name of a directory"):
        simulate(**FEW, checkpoint=name)


def test_a_name_with_a_null_character_is_refused_in_words():
    with pytest.raises(ValueError, match=r"checkpoint must be the name of a directory, got 'a\\x00b'"):
        simulate(**FEW, checkpoint="a\0b")
    for name in ("", b"x"):
        with pytest.raises(TypeError, match="checkpoint must be the name of a directory"):
            checkpoint.Checkpoint(name, {})


def test_a_link_that_leads_nowhere_is_refused_in_words(tmp_path):
    (tmp_path / "link").symlink_to("away")
    with pytest.raises(OSError, match=r"link is a link to away, which is not there\. Name another"):
        simulate(**FEW, checkpoint=tmp_path / "link")
    (tmp_path / "away").mkdir()
    same(simulate(**FEW, checkpoint=tmp_path / "link"), simulate(**FEW))
    assert len(files(tmp_path / "away")) == 12


def test_a_link_in_the_directory_is_replaced_and_what_it_names_stays(tmp_path):
    important, saved = tmp_path / "important.txt", tmp_path / "saved"
    important.write_text("mine")
    whole = simulate(**FEW, checkpoint=saved)
    for name, target in {"0-1-2.npz": important, "0-2-3.npz": tmp_path / "away", "1-0-1.npz": tmp_path}.items():
        (saved / name).unlink()
        (saved / name).symlink_to(target)
    with pytest.warns(RuntimeWarning, match=r"0-1-2\.npz cannot be used: it is damaged"):
        same(simulate(**FEW, checkpoint=saved), whole)
    assert important.read_text() == "mine"
    assert not (tmp_path / "away").exists()
    assert not any(path.is_symlink() for path in saved.iterdir())
    same(simulate(**FEW, checkpoint=saved), whole)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".hidden").symlink_to("nothing")
    (tmp_path / "other" / "simulation.json").symlink_to(tmp_path / "away")
    with pytest.raises(ValueError, match=r"holds 'simulation\.json'"):
        simulate(**FEW, checkpoint=tmp_path / "other")
    assert not (tmp_path / "away").exists()


def test_what_a_kill_left_half_written_is_no_hindrance_and_is_removed_in_time(tmp_path):
    fresh, old = tmp_path / f".{'a' * 32}.partial", tmp_path / f".0-1-2.npz.{'d' * 32}.partial"
    for path in (fresh, old):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    simulate(**FEW, checkpoint=tmp_path)
    assert fresh.exists()
    assert not old.exists()


# files that are damaged or of something else


def one_saved(tmp_path):
    """Return a checkpoint with one batch, that batch, and the place of its file."""
    player = batches.Player(*PLAYERS["flat"], "compiled")
    simulation, batch = batches.Simulation((player,), BANDIT, 30, 2, np.array([10, 30])), batches.Batch(0, 0, 2)
    saved = checkpoint.Checkpoint(tmp_path, checkpoint.described(simulation, ["flat"], 2, "1"))
    _, kept = batches.run_batch(simulation, batch)
    saved.save(batch, kept)
    return saved, batch, kept, tmp_path / "0-0-2.npz"


def loaded(saved, batch, like):
    """Return what a checkpoint gives, or None if it gives nothing and says so."""
    into = {name: np.full_like(array, 7) for name, array in like.items()}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = saved.load(batch, into)
    assert found != any("played again" in str(warning.message) for warning in said)
    if not found:
        assert all((array == 7).all() for array in into.values())
    return into if found else None


def test_no_flipped_byte_and_no_cut_goes_unnoticed(tmp_path):
    saved, batch, kept, place = one_saved(tmp_path)
    content = place.read_bytes()
    noticed = 0
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 0xFF
        place.write_bytes(damaged)
        found = loaded(saved, batch, kept)
        noticed += found is None
        assert found is None or all((found[name] == kept[name]).all() for name in kept)
    assert noticed > len(content) / 2  # the others are dates and attributes of the archive
    for length in range(0, len(content), 50):
        place.write_bytes(content[:length])
        assert loaded(saved, batch, kept) is None
    place.write_bytes(content)
    assert loaded(saved, batch, kept) is not None


def test_a_file_of_another_batch_or_simulation_is_not_taken(tmp_path):
    saved, batch, kept, place = one_saved(tmp_path)
    place.rename(tmp_path / "0-2-4.npz")
    assert loaded(saved, batches.Batch(0, 2, 4), kept) is None
    with pytest.raises(ValueError, match="another simulation"):
        checkpoint.Checkpoint(tmp_path, {"format": checkpoint.FORMAT, "policies": []})
    np.savez(place, of=saved._mark(batch), **kept | {"regret": kept["regret"].astype(np.float32)})
    assert loaded(saved, batch, kept) is None
    np.savez(place, of=saved._mark(batch), counts=kept["counts"])
    assert loaded(saved, batch, kept) is None


class Evil:
    def __reduce__(self):
        return os.mkdir, ("executed",)


def test_nothing_in_a_file_is_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    saved, batch, kept, place = one_saved(tmp_path / "saved")
    place.write_bytes(pickle.dumps(Evil()))
    assert loaded(saved, batch, kept) is None
    np.savez(place, of=saved._mark(batch), **kept | {"regret": np.array([Evil()], dtype=object)})
    assert loaded(saved, batch, kept) is None
    assert not Path("executed").exists()


def test_a_damaged_file_is_played_again_with_a_warning_and_mended(tmp_path):
    whole = simulate(**FEW, checkpoint=tmp_path)
    (tmp_path / "1-3-4.npz").write_bytes(b"PK damaged")
    with pytest.warns(RuntimeWarning, match=r"1-3-4\.npz cannot be used: it is damaged.* played again"):
        same(simulate(**FEW, checkpoint=tmp_path), whole)
    (tmp_path / "1-3-4.npz").write_bytes(pickle.dumps(np.array([Evil()], dtype=object)))
    with pytest.warns(RuntimeWarning, match=r"cannot be used: it is damaged") as said:
        same(simulate(**FEW, checkpoint=tmp_path), whole)
    assert not any("pickle" in str(warning.message) for warning in said)
    same(simulate(**FEW, checkpoint=tmp_path), whole)


# trouble on the way


def test_a_full_disk_is_said_and_what_was_saved_stays(tmp_path, monkeypatch):
    fsync, calls = os.fsync, []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) > 5:  # the description and four batches
            raise OSError(28, "No space left on device")
        fsync(descriptor)

    monkeypatch.setattr(outputs.os, "fsync", full)
    with pytest.raises(OSError, match=r"cannot be written: No space left on device\. Make room") as stop:
        simulate(**FEW, checkpoint=tmp_path, threads=1)
    assert re.match(
        r"4 of 12 runs \(6 of each of 2 policies\) are saved in .* Run the same again", stop.value.__notes__[0]
    )
    monkeypatch.undo()
    before = files(tmp_path)
    assert len(before) == 4
    same(simulate(**FEW, checkpoint=tmp_path), simulate(**FEW))
    assert before.items() <= files(tmp_path).items()
    assert not list(tmp_path.glob(".*"))


def test_the_memory_of_what_cannot_be_written_is_released(tmp_path, monkeypatch):
    """Python would otherwise complain of a BufferError when it comes to collect what the error holds."""
    (saved, batch, kept, _), given = one_saved(tmp_path), []

    def full(path, content, **_):
        given.append(content)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("corrbandits.simulation.checkpoint.outputs.write_file", full)
    monkeypatch.setattr("corrbandits.simulation.trace.write_file", full)
    for write in (lambda: saved.save(batch, kept), lambda: simulate(**FEW).save(tmp_path / "trace.nc")):
        with pytest.raises(OSError, match="No space left"):
            write()
    assert len(given) == 2
    for content in given:
        with pytest.raises(ValueError, match="released memoryview"):
            bytes(content)


class Failing(cb.Policy):
    def _choose(self, belief, t, rng, arms):
        raise ZeroDivisionError("a mistake of a user's own")


def test_an_error_in_the_work_leaves_what_was_saved(tmp_path):
    players = {"a": PLAYERS["random"], "failing": (Failing(), JOINT)}
    with pytest.raises(ZeroDivisionError, match="a mistake of a user's own") as stop:
        simulate(players, BANDIT, 30, 6, checkpoint=tmp_path, map=map)
    assert "1 of 12 runs (6 of each of 2 policies) are saved" in stop.value.__notes__[0]
    assert list(files(tmp_path)) == ["0-0-1.npz"]


def test_two_processes_on_one_directory_do_not_disturb_each_other(tmp_path):
    begun, options = NEWLY.Event(), {"runs": 20, "record": "full"}
    together(work, *((tmp_path / "saved", tmp_path / f"{n}.nc", begun, options) for n in range(2)))
    same(cb.Trace.load(tmp_path / "0.nc"), cb.Trace.load(tmp_path / "1.nc"))
    assert len(files(tmp_path / "saved")) == 40
    assert not list((tmp_path / "saved").glob(".*"))


def test_another_process_may_begin_at_any_moment(tmp_path, monkeypatch):
    whole, iterdir = simulate(**FEW), Path.iterdir

    def iterdir_late(path):
        monkeypatch.undo()
        simulate(**FEW, checkpoint=tmp_path)  # the other one, whose files are then seen
        return iterdir(path)

    monkeypatch.setattr(Path, "iterdir", iterdir_late)
    same(simulate(**FEW, checkpoint=tmp_path), whole)
    assert len(files(tmp_path)) == 12


def test_two_different_simulations_cannot_begin_in_one_directory(tmp_path):
    ready, refused = threading.Barrier(2), []

    def begin(seed):
        ready.wait()
        try:
            simulate(**FEW | {"seed": seed}, checkpoint=tmp_path)
        except (ValueError, RuntimeWarning) as error:  # the warning: a file of the other is played again
            refused.append(error)

    threads = [threading.Thread(target=begin, args=(seed,)) for seed in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seed = json.loads((tmp_path / "simulation.json").read_text())["seed"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where both wrote before either looked, some files are of the other
        same(simulate(**FEW | {"seed": seed}, checkpoint=tmp_path), simulate(**FEW | {"seed": seed}))
