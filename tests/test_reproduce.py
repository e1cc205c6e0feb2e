"""`corrbandits reproduce`: its files, its claims, recomputed here from the files alone."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from corrbandits import landscapes, paper

BEST, T = 60.0, 10_000


def mean(regret, policy):
    return regret.sel(policy=policy).mean("run").values  # at index t - 1


def check_captions(well, ill, means, arms_of_ill_uncorrelated):
    """The table of section 5, from regret(policy, run, time)."""
    t = np.arange(1, T + 1)
    flat, single, joint = (mean(well, p) for p in ("uninformative", "uncorrelated", "correlated"))
    assert flat[t == 100] == pytest.approx(100 * (BEST - 30), rel=0.01)
    assert np.all((joint < single)[t >= 150])
    assert np.all((single < flat)[t >= 150])
    gaps = np.max(means) - means
    bound = sum(2 * 10 / gap for gap in gaps if gap > 0) * np.log(t)
    early = (t >= 2) & (t <= 60)
    assert np.all((single < bound)[early])
    assert np.all((joint < bound)[early])

    flat2, single2, joint2 = (mean(ill, p) for p in ("uninformative", "uncorrelated", "correlated"))
    on_best = (arms_of_ill_uncorrelated == np.argmax(means)).mean(axis=0)
    end = t[on_best > 0.5][0]
    assert abs(end - 4_500) <= 150
    assert single2[end - 1] == pytest.approx(35_000, rel=0.05)
    assert np.all((joint2 < flat2)[t > 1_000])
    assert np.all((flat2 < single2)[t > 1_000])
    assert 0.75 <= (flat[999] - joint2[999]) / (flat[999] - joint[999]) < 1


@pytest.fixture(scope="module")
def reproduction(tmp_path_factory):
    out = tmp_path_factory.mktemp("reproduction")
    done = subprocess.run(
        [Path(sys.executable).parent / "corrbandits", "reproduce", "--out", str(out)], capture_output=True, text=True
    )
    return out, done


def test_all_files_are_written_and_all_is_said(reproduction):
    out, done = reproduction
    assert done.returncode == 0
    assert done.stderr == ""  # silent: nobody watches
    expected = {f"figure{n}.{ending}" for n in (1, 2) for ending in ("png", "pdf", "nc")} | {"claims.json"}
    assert {p.name for p in out.iterdir()} == expected
    assert (out / "figure1.png").read_bytes().startswith(b"\x89PNG")
    assert (out / "figure2.pdf").read_bytes().startswith(b"%PDF")
    assert done.stdout.count("yes") == 7
    assert "NO" not in done.stdout
    assert "/50" in done.stdout
    assert str(out) in done.stdout


def test_the_captions_hold_in_the_files(reproduction):
    out, _ = reproduction
    well, ill = (xr.load_dataset(out / f"figure{n}.nc", engine="h5netcdf") for n in (1, 2))
    for data in (well, ill):
        assert data["regret"].dims == ("policy", "run", "time")
        assert data["regret"].shape == (3, 100, T)
        assert data["policy"].values.tolist() == ["uninformative", "uncorrelated", "correlated"]
        assert data["time"].values[0] == 1
        assert data["coordinates"].shape == (100, 2)
        np.testing.assert_array_equal(data["means"], landscapes.two_peaks().means)
    check_captions(well["regret"], ill["regret"], well["means"].values, ill["arms"].sel(policy="uncorrelated").values)


def test_the_claims_file_says_what_the_table_says(reproduction):
    out, done = reproduction
    record = json.loads((out / "claims.json").read_text())
    assert record["settings"] == {"runs": 100, "horizon": T, "seed": 0}
    assert [c["met"] for c in record["claims"]] == [True] * 7 + [None]
    assert "not reproduced" in record["claims"][-1]["paper"]
    assert "bends at t =" in record["claims"][-1]["ours"]
    assert set(record["untuned"]["holds"]) < {c["claim"] for c in record["claims"]}
    for count in record["untuned"]["holds"].values():
        assert f"{count}/50" in done.stdout


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_captions_hold_at_other_seeds(seed):
    figures = paper.Figures.simulated(landscapes.two_peaks(), T, 100, seed)
    arms = figures.ill.arms.sel(policy="uncorrelated").values
    check_captions(figures.well.regret, figures.ill.regret, figures.surface.means, arms)
    assert [claim.met for claim in paper.claims(figures)] == [True] * 7 + [None]


def test_claims_that_fail_are_said_to_fail():
    surface = paper.untuned_surface(0)
    swapped = paper.Figures.simulated(surface, 1_500, 5, 0)
    swapped = paper.Figures(surface, well=swapped.ill, ill=swapped.well)
    verdicts = {claim.claim: claim.met for claim in paper.claims(swapped)}
    assert verdicts["Figure 2: order for t > 1,000"] is False
    assert verdicts["Figure 2: uncorrelated ends its long phase"] is None  # the horizon is too short to tell
    assert verdicts["Figure 2: its regret there"] is None


def test_the_papers_settings_are_those_printed():
    delta_squared, epsilon = 10 / 10, 1 / np.sqrt(10)
    assert 0 < paper.A - (4 / 3) * (1 + delta_squared / (1 - epsilon)) < 2e-3
    for players in (paper.well_informed, paper.ill_informed):
        (flat_policy, flat), (_, single), (policy, joint) = players(landscapes.two_peaks()).values()
        assert np.isinf(flat.variance).all()
        assert (single.variance == 10).all()
        assert (joint.variance == 10).all()
        assert policy.nu == 1
        assert policy.K == flat_policy.K == pytest.approx(np.sqrt(2 * np.pi * np.e))
        assert not policy.pending(joint).any()  # exactly on the threshold: no initialisation (mistake 15)
        neighbours, far = joint.covariance[0, 1], joint.covariance[0, 99]
        length = -1 / np.log(neighbours / 10)
        assert far == pytest.approx(10 * np.exp(-np.hypot(9, 9) / length))
    well = paper.well_informed(landscapes.two_peaks())["correlated"][1].mean
    assert set(well) == {0.0, 100.0}
    assert set(paper.ill_informed(landscapes.two_peaks())["correlated"][1].mean) == {30.0}


def test_untuned_surfaces_have_the_papers_mean_and_maximum():
    for number in (0, 17):
        means = paper.untuned_surface(number).means
        assert means.mean() == pytest.approx(30)
        assert means.max() == pytest.approx(60)
