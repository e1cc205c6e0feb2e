"""Commands of `corrbandits study`, run in this process."""

import json
import sys

import pytest

from corrbandits.cli import entry as cli
from tests.support.shell import SITES


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys):
    """Run `corrbandits study ...` in this process; return the exit code, what it printed and what it complained of."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("CORRBANDITS_DB", raising=False)
    (tmp_path / "sites.csv").write_text(SITES)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["corrbandits", "study", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return stop.value.code or 0, printed.out, printed.err

    return run


@pytest.fixture
def ok(shell):
    """Run a command that must succeed; return what it printed."""

    def run(*arguments):
        code, out, err = shell(*arguments)
        assert (code, err) == (0, ""), err
        return out

    return run


@pytest.fixture
def answer(shell):
    """Run a command with --json; return its document."""

    def run(*arguments, code=0):
        command, *rest = arguments
        came, out, err = shell(command, "--json", *rest)
        assert came == code, err
        assert out.count("\n") == 1
        return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))

    return run


@pytest.fixture
def refused(shell):
    """Run a command that must be refused; return what it complained of."""

    def run(*arguments, code=2):
        came, out, err = shell(*arguments)
        assert came == code, (out, err)
        assert out == ""
        return err

    return run
