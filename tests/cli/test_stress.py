"""The command `corrbandits stress`."""

import signal

from corrbandits import stress
from corrbandits.stress.experiment import load
from tests.support.commands import corrbandits, here, waiting_after_one_batch
from tests.support.stress_cases import FILE


def test_the_command_writes_all_files_and_prints_the_sentences(tmp_path):
    (tmp_path / "my.toml").write_text(FILE)
    expected = stress.run(**load(tmp_path / "my.toml"))
    options = ("--out", "out", "--checkpoint", "saved", "--threads", "2")
    done = corrbandits("stress", "my.toml", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "my-stress.csv",
        "my-stress.nc",
        "my-stress.html",
        *(f"my-stress-{what}.{ending}" for what in ("grids", "curves") for ending in ("png", "pdf")),
    }
    assert (tmp_path / "out" / "my-stress.csv").read_text() == expected.to_csv()
    assert (tmp_path / "out" / "my-stress.nc").read_bytes() == bytes(expected.to_netcdf())
    for sentence in expected.sentences():
        assert sentence in done.stdout
    page = (tmp_path / "out" / "my-stress.html").read_text(encoding="utf-8")
    assert expected.sentences()[0] in page


def test_the_command_goes_on_after_ctrl_c(tmp_path, monkeypatch):
    (tmp_path / "my.toml").write_text(FILE.replace("horizon = 30", "horizon = 300"))
    expected = stress.run(**load(tmp_path / "my.toml"))
    command = ["stress", "my.toml", "--checkpoint", "saved", "--threads", "1"]
    with waiting_after_one_batch(*command, cwd=tmp_path) as begun:
        begun.send_signal(signal.SIGINT)
        assert "runs are saved in saved" in begun.communicate(timeout=60)[1]
    assert begun.returncode == 130
    assert not list(tmp_path.glob("results/*"))
    monkeypatch.chdir(tmp_path)
    assert here(monkeypatch, *command) == 0
    assert (tmp_path / "results" / "my-stress.csv").read_text() == expected.to_csv()


def test_the_command_refuses_before_it_writes(tmp_path, monkeypatch, capsys):
    (tmp_path / "my.toml").write_text(FILE.replace("length = [0.5, 2.0]", "length = [0.0]"))
    monkeypatch.chdir(tmp_path)
    assert here(monkeypatch, "stress", "my.toml") == 2
    assert "line 27: in [stress], length must be factors above 0" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["my.toml"]
