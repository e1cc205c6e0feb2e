"""How many parts a belief told nothing needs, and of which kinds: what is measured, and what is said of it."""

import json

import numpy as np
import pytest
from benchmarks import ablation, kept, parts

from corrbandits import Vague
from corrbandits.arena.calibration import log_densities, played
from corrbandits.arena.problems import problem
from corrbandits.policies import Gittins
from tests.support import ROOT


def test_the_same_parts_are_nothing_apart_and_other_parts_are():
    rows = {(row.belief, row.t): row for row in parts.rows_of(("chain", 0), many=96, times=(10, 20))}
    assert {belief for belief, _ in rows} == {*parts.BELIEFS}
    for t in (10, 20):
        assert (rows["96", t].gain, rows["96", t].apart) == (0.0, 0.0)
        assert rows["6", t].apart > rows["48", t].apart > 0


def test_the_score_is_the_log_density_of_the_truth_by_differences_of_chances():
    given = problem("chain", parts.SEED, 0)
    arms, rewards = played(given, Gittins(20), 20)
    belief = Vague(coordinates=given.coordinates).observe(arms, rewards)
    step = 1e-3 * float(belief.deviation.min())
    between = [
        belief.chances(mean - step)[arm] - belief.chances(mean + step)[arm] for arm, mean in enumerate(given.means)
    ]
    np.testing.assert_allclose(
        log_densities(belief, given.means, 19), np.log(np.array(between) / (2 * step)), atol=1e-4
    )


EVERY = [(name, t) for t in parts.TIMES for name in (*parts.BELIEFS, f"{parts.MANY:,}")]


@pytest.mark.parametrize("left", ["6,chain,2,10,0.1", "6,chain,2,10,0.1,0.2,0.9\n"])
def test_the_command_goes_on_where_it_was_stopped(tmp_path, capsys, monkeypatch, left):
    """Whoever wrote the last line, or the first rows of a problem alone, was killed."""
    monkeypatch.setattr(parts, "rows_of", lambda work: [parts.Row(name, *work, t, -0.1, 0.2, 0.9) for name, t in EVERY])
    options = ["--results", str(tmp_path), "--families", "chain"]
    assert parts.main([*options, "--problems", "2"]) == 0
    first = (tmp_path / parts.FILE).read_text()
    (tmp_path / parts.FILE).write_text(first + left)
    assert parts.whole(parts.read(tmp_path / parts.FILE)) == {("chain", 0), ("chain", 1)}
    assert parts.main([*options, "--problems", "3"]) == 0
    assert (tmp_path / parts.FILE).read_text().startswith(first)
    assert sorted(row[:4] for row in parts.read(tmp_path / parts.FILE)) == sorted(
        (name, "chain", number, t) for number in range(3) for name, t in EVERY
    )
    assert "| 48, the default |" in capsys.readouterr().out


def test_rows_that_two_commands_made_at_once_count_once(tmp_path):
    rows = [parts.Row("6", "chain", 0, 10, gain, 0.5, 0.8) for gain in (-1.0, -1.0)]
    kept.added(tmp_path / parts.FILE, parts.Row._fields, rows, lambda row: [row], 1)
    assert parts.read(tmp_path / parts.FILE) == rows[:1]


@pytest.mark.parametrize("module", [parts, ablation])
def test_a_folder_of_nothing_makes_no_page(module, tmp_path, capsys):
    with pytest.raises(SystemExit):
        module.main(["--results", str(tmp_path / "typo"), "--problems", "0", "--out", str(tmp_path)])
    assert "got none in" in capsys.readouterr().err
    assert not [*tmp_path.glob("*.json")]


def test_families_count_the_same():
    rows = [parts.Row("6", "chain", k, 10, -1.0, 0.5, 0.8) for k in range(3)]
    rows += [parts.Row("6", "trend", k, 10, -2.0, 1.5, 0.9) for k in range(30)]
    found = parts.summary(rows)
    assert found["problems"] == 33
    assert (found["beliefs"]["6"]["10"]["least"], found["beliefs"]["6"]["10"]["family"]) == (-2.0, "trend")
    assert [found["beliefs"]["6"]["10"][name] for name in ("gain", "apart", "covered")] == pytest.approx(
        [-1.5, 1.0, 0.85]
    )


def test_the_page_and_the_picture_show_what_was_measured():
    data = json.loads((ROOT / "docs" / parts.DATA).read_text(encoding="utf-8"))
    assert parts.page(data) == (ROOT / "docs" / parts.PAGE).read_text(encoding="utf-8")
    assert {*data["beliefs"]} == {*parts.BELIEFS, f"{parts.MANY:,}"}
    lines = [line.get_ydata() for line in parts.figure(data).axes[1].get_lines()]
    usual = data["beliefs"][str(parts.USUAL)]
    assert [y[parts.NUMBERS.index(parts.USUAL)] for y in lines if len(y) == len(parts.NUMBERS)] == [
        at["apart"] for at in usual.values()
    ]


def test_a_file_of_other_columns_is_refused_in_words(tmp_path, capsys):
    (tmp_path / parts.FILE).write_text("other,columns\n1,2\n")
    with pytest.raises(SystemExit):
        parts.main(["--results", str(tmp_path)])
    assert "must have the columns" in capsys.readouterr().err
