"""`corrbandits reproduce`, `errata` and `audit`."""

from dataclasses import replace
from functools import partial

from corrbandits.paper import audit, errata, reproduction
from tests.support.commands import contents, corrbandits, here


def test_a_claim_that_is_not_met_is_exit_code_1(tmp_path, monkeypatch, capsys):
    # 20 steps of an ensemble of 2 cannot keep the order from t = 150 on, nor tell; 160 steps of 2 runs can be checked
    monkeypatch.setattr(reproduction, "UNTUNED_SURFACES", 2)
    monkeypatch.chdir(tmp_path)
    code = here(monkeypatch, "reproduce", "--runs", "2", "--horizon", "160", "--seed", "5")
    record = (tmp_path / "reproduction" / "claims.json").read_text()
    assert code == (1 if '"met": false' in record else 0)
    assert "needs a horizon of" in capsys.readouterr().out


def test_errata_are_listed(tmp_path):
    done = corrbandits("errata", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for erratum in errata.ERRATA:
        assert f"\n{erratum.number} " in done.stdout
        assert erratum.where.split()[0] in done.stdout
    assert "held" not in done.stdout


def test_errata_are_checked(monkeypatch, capsys):
    monkeypatch.setattr(errata, "ERRATA", errata.ERRATA[:5])  # all of them are checked in test_errata.py
    assert here(monkeypatch, "errata", "--check") == 0
    said = capsys.readouterr().out
    assert "5 of 5 findings held." in said
    assert said.count(" held\n") == 5


def test_a_finding_that_fails_is_said_and_is_exit_code_1(monkeypatch, capsys):
    def fail():
        raise errata.ErratumError("the finding does not hold: 1 is not 2")

    first, second, *_ = errata.ERRATA
    monkeypatch.setattr(errata, "ERRATA", (replace(first, check=fail), replace(second, check=lambda: None)))
    assert here(monkeypatch, "errata", "--check") == 1
    said = capsys.readouterr().out
    assert " failed\n" in said
    assert " held\n" in said
    assert "1: the finding does not hold: 1 is not 2" in said
    assert "1 of 2 findings held." in said


def test_an_audit_is_printed_and_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(audit, "run", partial(audit.run, counterexamples=1, drawn=1))  # more: paper/test_audit.py
    arguments = ("--problems", "1", "--runs", "2", "--seed", "7", "--out", tmp_path / "new")
    assert here(monkeypatch, "audit", *arguments) == 0
    said = capsys.readouterr().out
    assert "1 random problem with 2 runs, 1 like the counterexample" in said
    assert "seed 7" in said
    assert list(contents(tmp_path / "new")) == ["audit.csv"]
    rows = (tmp_path / "new" / "audit.csv").read_text().splitlines()
    assert rows[0].startswith("problems,bound,pairs,violations")
    assert any(row.startswith("random,Theorem 1,") for row in rows)
