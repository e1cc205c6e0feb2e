"""The families of problems: their laws, their units, their order, and what is told of them."""

import numpy as np
import pytest
from scipy.stats import kstest

from corrbandits import StudentBandit
from corrbandits.arena import fields
from corrbandits.arena.problems import FAMILIES, problem

MEADOW = "x,y,yield\n1,1,3\n2,1,4\n"
DRAWN = [name for name in FAMILIES if name not in ("paper's surface", "many arms", "large grid")]


def whitened(given):
    """Return what is a standard normal vector if the prior is the law of the means."""
    root = np.linalg.cholesky(given.covariance + 1e-12 * np.trace(given.covariance) * np.eye(len(given.means)))
    return np.linalg.solve(root, given.means - given.mean)


def test_mean_rewards_have_the_law_that_is_told():
    rough = [name for name in DRAWN if name not in ("very smooth grid", "chain")]  # these are singular to rounding
    values = np.concatenate([whitened(problem(name, 1, k)) for name in rough for k in range(3)])
    assert kstest(values, "norm").pvalue > 0.01


def test_a_problem_follows_from_its_family_seed_and_number_alone():
    first, again = problem("clusters", 3, 2), problem("clusters", 3, 2, {"clusters": FAMILIES["clusters"]})
    assert first.means.tobytes() == again.means.tobytes()
    assert first.stream == again.stream
    others = [problem("clusters", 4, 2), problem("clusters", 3, 1), problem("rough grid", 3, 2)]
    assert len({first.stream, *(other.stream for other in others)}) == 4
    assert len({float(given.means[0]) for given in (first, *others)}) == 4


def test_the_order_of_arms_tells_nothing():
    where = problem("rough grid", 1, 0).coordinates
    assert not np.array_equal(where, where[np.lexsort(where.T[::-1])])
    assert sorted(map(tuple, where)) == [(x, y) for x in range(10) for y in range(10)]


def test_families_have_the_arms_the_noise_and_the_units_they_say():
    sizes = [len(problem(name, 2, k).means) for name in ("scattered", "chain") for k in range(8)]
    assert 30 <= min(sizes) < max(sizes) <= 151
    assert 300 <= len(problem("many arms", 2, 0).means) <= 1_001
    ratio = [(problem("much noise", 2, k).noise_sd / problem("much noise", 2, k).scale) ** 2 for k in range(5)]
    assert 5 <= min(ratio) < max(ratio) <= 30
    units = [problem("other units", 2, k) for k in range(12)]
    assert max(each.scale for each in units) > 1e6 * min(each.scale for each in units)
    assert all(10 <= abs(each.mean) / each.scale <= 1e5 for each in units)


def test_heavy_tails_are_of_student_s_law_and_the_others_are_not():
    environment = problem("heavy tails", 1, 0).environment()
    assert isinstance(environment, StudentBandit)
    assert environment.degrees == 3
    assert not isinstance(problem("rough grid", 1, 0).environment(), StudentBandit)


def test_what_is_told_wrongly_is_wrong_by_as_much_as_said():
    given = problem("site effects", 1, 0)
    right, near = given.told(), np.argsort(np.square(given.coordinates - given.coordinates[0]).sum(axis=1))[1]
    correlation = [belief.covariance[0, near] / belief.variance[0] for belief in map_lengths(given)]
    assert correlation[0] < correlation[1] < correlation[2] < 1  # the longer, the more alike are neighbours
    assert given.told(sd=2.0).variance == pytest.approx(4 * right.variance)
    assert given.told(noise=0.5).noise_variance == pytest.approx(right.noise_variance / 4)
    assert given.told(mean=-2.0).mean == pytest.approx(right.mean - 2 * np.sqrt(right.variance))
    assert given.told(sd=2.0).mean == pytest.approx(right.mean)


def map_lengths(given):
    return [given.told(length=factor) for factor in (0.25, 1.0, 4.0)]


def test_an_unknown_family_is_refused_by_name():
    with pytest.raises(ValueError, match=r"must be one of rough grid, .*, got 'ruff grid'"):
        problem("ruff grid", 1, 0)


def test_a_field_is_a_family_whose_mean_rewards_are_what_its_places_gave(tmp_path):
    rows = [f"{r}\t{c}\t{10 * r + c}" for r in range(20) for c in range(20)]
    rows[7] = "0\t7\tNA"
    (tmp_path / "mine.barley.txt").write_text("\n".join(["row\tcol\tyield", *rows]) + "\n", encoding="utf-8")
    (tmp_path / "yours.csv").write_text(
        "name,x,y,grain,straw\na,0,0,1.5,9\nb,1,0,2.5,9\nc,5,5,3.5,9\n", encoding="utf-8"
    )
    (tmp_path / "README.md").write_text("not a field", encoding="utf-8")
    known = fields.families(tmp_path)
    assert list(known) == ["field mine", "field yours"]
    given = problem("field mine", 1, 0, known)
    assert len(given.means) == fields.MOST
    assert given.means == pytest.approx(10 * given.coordinates[:, 1] + given.coordinates[:, 0])
    assert (0.0, 7.0) not in {(y, x) for x, y in given.coordinates.tolist()}
    assert sorted(problem("field yours", 1, 0, known).means) == [1.5, 2.5, 3.5]
    assert given.scale == pytest.approx(given.means.std())


def test_the_prior_told_of_a_field_fits_it(tmp_path):
    where, rng = np.argwhere(np.ones((8, 8))), np.random.default_rng(0)
    distance = np.sqrt(np.square(where[:, None] - where).sum(axis=2))
    values = 40 + 3 * np.linalg.cholesky(np.exp(-distance / 4)) @ rng.standard_normal(64)
    rows = [f"{x},{y},{v}" for (x, y), v in zip(where, values, strict=True)]
    (tmp_path / "smooth.csv").write_text("\n".join(["x,y,yield", *rows]) + "\n", encoding="utf-8")
    given = problem("field smooth", 1, 0, fields.families(tmp_path))
    correlation = given.covariance / given.covariance[0, 0]
    assert (
        np.corrcoef(
            correlation.ravel(), -np.log(1 + np.square(given.coordinates[:, None] - given.coordinates).sum(2)).ravel()
        )[0, 1]
        > 0.9
    )
    assert 1 < given.covariance[0, 0] < 60


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "must hold fields"),
        ({"a.csv": "name,yield\nx,1\n"}, "must have columns that say where places lie"),
        ({"a.csv": "x,y\n1,1\n"}, "and one of numbers"),
        ({"a.csv": "x,y,yield\n1,1,many\n"}, "must hold finite numbers"),
        ({"a.one.csv": MEADOW, "a.two.csv": MEADOW}, "got two for 'field a'. Rename 'a.two.csv'"),
        ({"a.csv": MEADOW, "flat.csv": "x,y,yield\n1,1,0.1\n2,1,0.1\n3,1,0.1\n"}, "flat.csv must have places that"),
    ],
)
def test_what_is_no_field_is_refused(files, message, tmp_path):
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        fields.families(tmp_path)
    with pytest.raises(ValueError, match="must be a folder"):
        fields.families(tmp_path / "nowhere")


def field_of(folder, name, values):
    rows = [f"{x},0,{value}" for x, value in enumerate(values)]
    (folder / f"{name}.csv").write_text("\n".join(["x,y,yield", *rows]) + "\n", encoding="utf-8")


def test_patches_where_all_places_gave_the_same_are_not_played(tmp_path):
    field_of(tmp_path, "half", [*[5.0] * 600, *range(50)])
    known = fields.families(tmp_path)
    assert all(problem("field half", 1, number, known).scale > 0 for number in range(10))
    field_of(tmp_path, "far", [*[5.0] * 300, *[6.0] * 300])
    text = (tmp_path / "far.csv").read_text(encoding="utf-8")
    (tmp_path / "far.csv").write_text(text.replace(",0,6.0", ",9999,6.0"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"far.csv must have places that gave more"):
        fields.families(tmp_path)


def test_the_digest_of_a_field_is_of_its_numbers(tmp_path):
    for name, values in {"a": [1, 2, 3], "b": ["1.0", "2e0", 3], "c": [1, 2, 3.5], "d": [1, 2]}.items():
        field_of(tmp_path, name, values)
    a, b, c, d = (field.digest for field in fields.families(tmp_path).values())
    assert a == b
    assert len({a, c, d}) == 3
