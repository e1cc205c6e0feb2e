"""Results: all of them or none, and nothing else is touched."""

import subprocess
import sys

from corrbandits import plots
from tests.support.commands import SMALL, contents, corrbandits, here


def test_an_error_between_two_files_leaves_the_old_results(tmp_path, monkeypatch, capsys):
    (tmp_path / "small.toml").write_text(SMALL)
    out = tmp_path / "out"
    assert here(monkeypatch, "simulate", tmp_path / "small.toml", "--out", out) == 0
    before = contents(out)
    (tmp_path / "small.toml").write_text(SMALL.replace("seed = 3", "seed = 4"))
    drawn = plots.drawn

    def failing(error):
        return lambda figure, ending: drawn(figure, ending) if ending == ".png" else (_ for _ in ()).throw(error)

    for error, code in ((KeyboardInterrupt(), 130), (OSError("no"), 2), (MemoryError(), 2), (OverflowError("x"), 2)):
        monkeypatch.setattr(plots, "drawn", failing(error))
        capsys.readouterr()
        assert here(monkeypatch, "simulate", tmp_path / "small.toml", "--out", out) == code
        assert contents(out) == before
        said = capsys.readouterr().err.strip()
        assert said.startswith("corrbandits: ")
        assert "\n" not in said


def test_a_full_disk_is_one_message_and_leaves_the_old_results(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    assert corrbandits("simulate", "small.toml", cwd=tmp_path).returncode == 0
    before = contents(tmp_path / "results")
    (tmp_path / "small.toml").write_text(SMALL.replace("runs = 7", "runs = 70"))
    limited = (  # files may not grow beyond 20 kB: what a full disk does, without one
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)); "
        "import sys; sys.argv = ['corrbandits', 'simulate', 'small.toml']; "
        "from corrbandits.cli.entry import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", limited], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "cannot be written" in done.stderr
    assert "Make room" in done.stderr
    assert contents(tmp_path / "results") == before


def test_dots_in_a_name_are_part_of_it(tmp_path, monkeypatch):
    for name in ("my.v1.toml", "my.v2.toml", "my.nc"):
        (tmp_path / name).write_text(SMALL)
        assert here(monkeypatch, "simulate", tmp_path / name, "--out", tmp_path) == 0
    made = {f"{stem}.{ending}" for stem in ("my.v1", "my.v2", "my.nc") for ending in ("png", "pdf", "nc")}
    assert set(contents(tmp_path)) == made | {"my.v1.toml", "my.v2.toml", "my.nc"}
    assert (tmp_path / "my.nc").read_text() == SMALL


def test_the_experiment_itself_is_never_replaced(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "small.png").symlink_to("small.toml")
    done = corrbandits("simulate", "small.toml", "--out", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert "must stay" in done.stderr
    assert (tmp_path / "small.toml").read_text() == SMALL
    assert set(contents(tmp_path)) == {"small.toml", "small.png"}


def test_a_users_own_file_in_the_directory_stays(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / ".writable").write_text("mine")
    assert corrbandits("simulate", "small.toml", "--out", ".", cwd=tmp_path).returncode == 0
    assert (tmp_path / ".writable").read_text() == "mine"
