"""Write the page on people from the choices of the 2018 study.

python docs/people.py --data FOLDER          # fit whoever is not fitted yet, then write the page
python docs/people.py                        # the page and its pictures from docs/people.json alone

FOLDER holds wu2018_exp1_1d.csv and wu2018_exp2_2d.csv. What is fitted is kept in the folder of --kept, and a run that
was stopped goes on from there. The page and its pictures are made of people.json alone.
"""

import argparse
from pathlib import Path

import corrbandits as cb
from corrbandits import choices
from corrbandits.fits.campaign import run
from corrbandits.fits.models import LAPSE, named
from corrbandits.fits.outcomes import Outcomes

HERE = Path(__file__).parent
FILES = {"on a line": "wu2018_exp1_1d.csv", "on a grid": "wu2018_exp2_2d.csv"}
COLUMNS = {"person": "id", "arm": ["x", "y"], "reward": "z", "horizon": "horizon", "given": 1}
STUDY = {"prior_mean": 50.0, "lapse": LAPSE}
MODELS = {
    "function learning": choices.Model(kernel=cb.SquaredExponential(1.0), prior_sd=100.0, noise=0.01, **STUDY),
    "mean tracker": choices.Model(prior_sd=100 * 5**0.5, noise="free", **STUDY),
    **named(["UCL", "HorizonUCL", "CorrelatedUCL-plain", "CorrelatedUCL"]),
}


def fitted(data, kept, experiment, threads):
    """Return the outcomes of one experiment."""
    people = choices.read_csv(data / FILES[experiment], **COLUMNS)
    kept.mkdir(parents=True, exist_ok=True)
    return run(people, MODELS, Outcomes(kept / f"{experiment.split()[-1]}.jsonl"), threads=threads)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--only")
    options = parser.parse_args(arguments)
    for experiment in [options.only] if options.only else FILES:
        fitted(options.data, options.kept, experiment, 1)


if __name__ == "__main__":
    main()
