"""The page on stress testing: the command behind its table of real fields, and the pictures its other commands draw."""

import importlib.util
import re
import sys

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.stress import experiment as stress_settings
from tests.support import ROOT

DOCS = ROOT / "docs"
PAGE = DOCS / "stress-testing.md"


@pytest.fixture(scope="module")
def fields():
    spec = importlib.util.spec_from_file_location("fields", DOCS / "fields.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["fields"] = module  # a dataclass looks for its module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["fields"]


def sow(path, rows, columns, *, seed, level=40.0, missing=False):
    """Write a smooth field in the format of the crops files."""
    where = cb.landscapes.grid(rows, columns) + 1
    kernel = 25.0 * cb.Exponential(4.0) + 2.0 * cb.Exponential(1e-6)
    values = cb.landscapes.draw(kernel, where, noise_variance=1.0, seed=seed, mean=level).means
    lines = [f"{int(r)}\t{int(c)}\t{y:.3f}" for (r, c), y in zip(where, values, strict=True)]
    if missing:
        lines[3] = "1\t4\tNA"
    path.write_text("\n".join(['"row"\t"col"\t"yield"', *lines]) + "\n", encoding="utf-8")
    return where, values


@pytest.fixture
def sown(tmp_path):
    sow(tmp_path / "first.barley.uniformity.txt", 8, 10, seed=1, missing=True)
    sow(tmp_path / "second.wheat.uniformity.txt", 9, 8, seed=2, level=4000.0)
    return tmp_path


def test_a_field_is_read_as_it_was_written(fields, tmp_path):
    where, values = sow(tmp_path / "mine.txt", 4, 6, seed=3, missing=True)
    field = fields.read(tmp_path / "mine.txt")
    kept = np.arange(len(values)) != 3
    assert field.name == "mine"
    assert field.where.tolist() == where[kept].tolist()
    assert field.yields == pytest.approx(values[kept], abs=1e-3)


def test_the_halves_share_no_plot_and_have_no_more_than_asked(fields, sown):
    field = fields.read(sown / "second.wheat.uniformity.txt")
    known, searched = field.halves(20)
    assert known.where[:, 1].max() < searched.where[:, 1].min()
    assert len(known.yields) == len(searched.yields) == 20
    whole = [part for half in field.halves(1_000) for part in half.yields]
    assert sorted(whole) == sorted(field.yields)


def test_a_prior_of_another_field_is_taken_over_in_units_of_this_one(fields, sown):
    first, second = (fields.read(path).halves(40)[0] for path in sorted(sown.glob("*.txt")))
    mean, kernel, own = fields.assumed(first.fitted(), first, second)
    unit = second.yields.std() / first.yields.std()
    assert mean == pytest.approx(second.yields.mean(), abs=second.yields.std())
    assert kernel(second.where[:1]).item() == pytest.approx(unit**2 * first.fitted().variance.value)
    assert own == pytest.approx(unit**2 * first.fitted().noise_variance.value)
    mean, kernel, own = fields.assumed(first.fitted(), first, first)
    assert (mean, own) == pytest.approx((first.fitted().mean.value, first.fitted().noise_variance.value))


def test_shares_are_ratios_with_paired_intervals(fields):
    share, half = fields.shares(np.array([[10.0, 20.0, 30.0], [5.0, 10.0, 15.0], [10.0, 10.0, 10.0]]))
    assert share == pytest.approx([0.5, 0.5])
    assert half[0] == pytest.approx(0.0, abs=1e-12)  # always half as much: no doubt about the ratio
    assert half[1] == pytest.approx(4.302653 * 5.0 / np.sqrt(3) / 20.0)


def test_the_command_writes_its_table_between_the_marks(fields, sown, tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{fields.BEGIN}old\n{fields.END}after\n", encoding="utf-8")
    options = ["--page", str(page), "--write", "--most", "40", "--horizon", "80", "--runs", "3"]
    fields.main([str(sown), *options])
    printed, text = capsys.readouterr().out, page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert printed in text
    assert "python docs/fields.py DIRECTORY --write --most 40 --horizon 80 --runs 3" in text
    assert str(tmp_path) not in text
    rows = [line.split("|")[1:-1] for line in printed.splitlines()[2:]]
    assert [[cell.strip() for cell in row[:3]] for row in rows] == [
        ["first", "its other half", "40"],
        ["first", "second", "40"],
        ["second", "its other half", "36"],
        ["second", "first", "36"],
    ]
    for row in rows:
        assert all(re.fullmatch(r" \d+\.\d\d ± \d+\.\d\d ", cell) for cell in row[5:])
    plain = [float(row[6].split("±")[0]) for row in rows]
    assert max(plain) < 1.0  # smooth fields, as the priors know: the uninformative one tries every plot


def test_one_field_is_not_enough(fields, tmp_path):
    sow(tmp_path / "only.txt", 4, 6, seed=3)
    with pytest.raises(SystemExit, match="two fields or more"):
        fields.main([str(tmp_path)])


def test_the_page_has_a_table_of_all_six_fields_and_no_path_of_a_machine(fields):
    text = PAGE.read_text(encoding="utf-8")
    table = text.split(fields.BEGIN)[1].split(fields.END)[0]
    rows = re.findall(r"^\| (\w+) \| ([\w ]+) \|", table, re.MULTILINE)
    assert len(rows) == 2 * 6 + 1
    assert "fields.py DIRECTORY" in table
    assert not re.search(r"/(work|home|tmp|root)\b", text)


def test_the_page_s_family_of_truths_is_one(tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    files = dict(re.findall(r"^```toml\n# (\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    assert len(files["peaks.toml"].splitlines()) <= 15
    sites = re.search(r"^(name,x,y,.*?yield1991\n.*?)\n```$", text, re.MULTILINE | re.DOTALL).group(1)
    (tmp_path / "sites.csv").write_text(sites, encoding="utf-8")
    family = files["family.toml"]
    columns, draws = re.search(r"^truth_columns = .*$", family, re.MULTILINE)[0], family.split("# or: ")[1].strip()
    path = tmp_path / "family.toml"
    for text_of_file, number in ((family, 2), (family.replace(columns, draws), 20)):
        path.write_text(text_of_file, encoding="utf-8")
        assert len(stress_settings.load(path)["truth"]) == number


def test_the_picture_of_the_remarks_is_the_one_the_command_draws(tmp_path):
    from matplotlib.image import imread

    from corrbandits import plots

    spec = importlib.util.spec_from_file_location("draw_remarks", DOCS / "remarks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    plots.save(module.figure(), tmp_path / "remarks.png")
    drawn, kept = imread(tmp_path / "remarks.png"), imread(DOCS / "remarks.png")
    assert drawn.shape == kept.shape
    assert np.abs(drawn - kept).mean() < 0.01  # another build of the same fonts may shift a pixel
