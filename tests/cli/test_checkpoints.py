"""Long work: checkpoints, and what Ctrl-C leaves."""

import signal

import pytest

from corrbandits import plots
from tests.support.commands import SMALL, corrbandits, here, waiting_after_one_batch


def test_ctrl_c_says_what_is_saved_and_the_same_command_goes_on(tmp_path, monkeypatch):
    (tmp_path / "long.toml").write_text(SMALL.replace("runs = 7", "runs = 250"))
    arguments = ["simulate", "long.toml", "--checkpoint", "saved", "--record", "summary", "--threads", "1"]
    with waiting_after_one_batch(*arguments, cwd=tmp_path) as child:
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=60)
    assert child.returncode == 130
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("saved/*.npz")}
    assert len(kept) == 1
    assert said.splitlines() == [
        f"corrbandits: stopped. Result files are all as they were, or all new. {len(kept)} of 500 runs (250 of each of "
        "2 policies) are saved in saved. Run the same again, and it goes on from there."
    ]
    monkeypatch.chdir(tmp_path)
    assert here(monkeypatch, *arguments) == 0
    assert kept == {path: path.stat().st_mtime_ns for path in kept}
    assert here(monkeypatch, *arguments[:2], "--record", "summary", "--out", "plain") == 0
    for name in ("long.nc", "long.png"):
        assert (tmp_path / "plain" / name).read_bytes() == (tmp_path / "results" / name).read_bytes()


def test_ctrl_c_while_figures_are_drawn_says_that_the_runs_are_saved(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SMALL)
    monkeypatch.setattr(plots, "drawn", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    assert here(monkeypatch, "simulate", "small.toml", "--checkpoint", "saved") == 130
    assert "What was done is saved in saved. Run the same again" in capsys.readouterr().err


def test_a_checkpoint_of_something_else_is_one_message(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SMALL)
    assert here(monkeypatch, "simulate", "small.toml", "--checkpoint", "saved") == 0
    (tmp_path / "saved" / "0-0-1.npz").write_bytes(b"damaged")
    done = corrbandits("simulate", "small.toml", "--checkpoint", "saved", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "corrbandits: saved/0-0-1.npz cannot be used: it is damaged, or was not written by corrbandits. Its runs are "
        "played again.",
        "corrbandits: 13 of 14 runs (7 of each of 2 policies) were there already, in saved.",
    ]
    (tmp_path / "small.toml").write_text(SMALL.replace("seed = 3", "seed = 4"))
    for arguments, message in (
        (("--checkpoint", "saved"), "saved is the checkpoint of another simulation: seed 3 there, 4 here"),
        (("--checkpoint", "."), "must be empty, new, or the checkpoint of this simulation, but it holds"),
        (("--checkpoint", "small.toml"), "'small.toml' is a file"),
        (("--record", "some"), "'some' is not one of 'full', 'summary'"),
        (("--threads", "0"), "'--threads'"),
    ):
        capsys.readouterr()
        assert here(monkeypatch, "simulate", "small.toml", *arguments) == 2
        assert message in " ".join(capsys.readouterr().err.split())


def test_it_is_said_how_many_runs_were_there_already(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    one = SMALL.replace('[policies.one]\nrule = "UCL"\nprior = "flat"\na = 1.5\n', "")
    (tmp_path / "small.toml").write_text(one)
    command = "simulate", "small.toml", "--checkpoint", "saved"
    said = []
    for _ in range(2):
        assert here(monkeypatch, *command) == 0
        said.append(capsys.readouterr().err)
    assert said == ["", "corrbandits: 7 of 7 runs were there already, in saved.\n"]
    assert here(monkeypatch, "simulate", "small.toml") == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("arguments", [("--checkpoint", ""), ("--checkpoint=",)])
def test_an_empty_name_of_a_checkpoint_is_refused(tmp_path, monkeypatch, capsys, arguments):
    (tmp_path / "new").mkdir()
    (tmp_path / "small.toml").write_text(SMALL)
    monkeypatch.chdir(tmp_path / "new")
    assert here(monkeypatch, "simulate", "../small.toml", *arguments) == 2
    assert "--checkpoint must be the name of a directory, got an empty one" in capsys.readouterr().err
    assert not list((tmp_path / "new").iterdir())


def test_a_checkpoint_that_is_a_lost_link_is_one_message(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "saved").symlink_to("away")
    assert here(monkeypatch, "simulate", "small.toml", "--checkpoint", "saved") == 2
    assert "saved is a link to away, which is not there. Name another." in capsys.readouterr().err
