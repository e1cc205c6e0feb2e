"""Search real fields: the prior fitted on one half of the plots, or on another field, and the other half searched.

python docs/fields.py DIRECTORY [--write]

DIRECTORY holds uniformity trials, a field per file NAME.txt: columns row, col and a yield, parted by tabs. Prints a
table of regrets relative to the uninformative prior's; --write puts it into docs/stress-testing.md, between its marks.
"""

import argparse
import csv
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

import corrbandits as cb
from corrbandits.belief import evidence

PAGE = Path(__file__).parent / "stress-testing.md"
BEGIN, END = "<!-- fields -->\n", "<!-- end of fields -->\n"
MOST, HORIZON, RUNS, A = 250, 1_000, 20, 1.5
COLUMNS = ("printed", "plain", "GP-UCB", "Thompson", "knowledge gradient")


@dataclass(frozen=True)
class Field:
    name: str
    where: np.ndarray
    """Row and column of each plot."""

    yields: np.ndarray

    def part(self, inside, most):
        """Return a block of at most so many plots in the middle of those asked for: whole columns, fewer rows."""
        columns, rows = np.unique(self.where[inside, 1]), np.unique(self.where[inside, 0])
        kept = max(1, min(len(rows), most // len(columns)))
        low = (len(rows) - kept) // 2
        chosen = inside & np.isin(self.where[:, 0], rows[low : low + kept])
        return Field(self.name, self.where[chosen], self.yields[chosen])

    def halves(self, most):
        """Return the part to fit on and the part to search, left and right of the middle column."""
        left = self.where[:, 1] <= np.median(np.unique(self.where[:, 1]))
        return self.part(left, most), self.part(~left, most)

    def fitted(self):
        return evidence.fit(self.where, np.arange(len(self.yields)), self.yields)


def read(path):
    """Return the field in a file; plots without a yield are left out."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter="\t")
    row, column = header.index("row"), header.index("col")
    value = next(i for i in range(len(header)) if i not in (row, column))
    numbers = [(float(each[row]), float(each[column]), float(each[value])) for each in rows if each[value] != "NA"]
    table = np.array(numbers)
    return Field(path.name.split(".")[0], table[:, :2], table[:, 2])


def assumed(fit, source, target):
    """Return the mean, the kernel and the plots' own variance fitted on one field, in units of another.

    These are its average and deviation: of a field that was never sown nothing else could be taken over.
    """
    unit = target.yields.std() / source.yields.std()
    mean = target.yields.mean() + unit * (fit.mean.value - source.yields.mean())
    return mean, unit**2 * fit.kernel, unit**2 * fit.noise_variance.value


def noise(fit, field):
    """Return the variance of rewards about a plot's yield: what was fitted, and at least a tenth of the yields'.

    Where neighbours vary smoothly the fit leaves nothing to noise, but no yield comes twice.
    """
    return max(fit.noise_variance.value, 0.1 * float(field.yields.var()))


def regrets(field, noise_variance, mean, kernel, own, horizon, runs):
    """Return the regret of each policy and run at the horizon; the first is the uninformative prior's.

    A plot's yield is its mean reward. The prior of a plot has a variance of its own besides the kernel's: what was
    noise about the smooth surface in the fit is the plot's to keep.
    """
    arms = len(field.yields)
    covariance = kernel(field.where, field.where) + own * np.eye(arms)
    prior = cb.Correlated(mean=mean, covariance=covariance, noise_variance=noise_variance)
    flat = cb.Independent(variance=math.inf, noise_variance=noise_variance, arms=arms)
    rules = (
        cb.CorrelatedUCL(a=A),
        cb.CorrelatedUCL(a=A, factor=False),
        cb.GPUCB(scale=0.2),
        cb.Thompson(),
        cb.KnowledgeGradient(horizon=horizon),
    )
    players = {"uninformative": (cb.UCL(a=A), flat), **{n: (r, prior) for n, r in zip(COLUMNS, rules, strict=True)}}
    bandit = cb.GaussianBandit(field.yields, noise_variance, field.where)
    trace = cb.simulate(players, bandit, horizon, runs, seed=0, record="summary", times=[horizon])
    return trace.regret.values[:, :, -1]


def shares(regret):
    """Return each policy's mean regret over the first's, and half its 95 % interval; runs meet the same noise."""
    runs, base = regret.shape[1], regret[0].mean()
    share = regret.mean(axis=1) / base
    apart = regret - share[:, None] * regret[0]
    half = stdtrit(runs - 1, 0.975) * apart.std(axis=1, ddof=1) / math.sqrt(runs) / base
    return share[1:], half[1:]


def row(field, source, length, arms, regret):
    cells = [f"{share:.2f} ± {half:.2f}" for share, half in zip(*shares(regret), strict=True)]
    return f"| {field} | {source} | {arms} | {length:.1f} | {regret[0].mean():.4g} | {' | '.join(cells)} |"


def table(directory, most, horizon, runs):
    """Return the table of all fields in a directory."""
    fields = [read(path) for path in sorted(Path(directory).glob("*.txt"))]
    if len(fields) < 2:
        sys.exit(f"{directory} must hold two fields or more, files such as wiebe.txt, got {len(fields)}.")
    halves = [field.halves(most) for field in fields]
    fits = [known.fitted() for known, _ in halves]
    head = ("field", "prior from", "plots", "length", "regret of UCL, uninformative", *COLUMNS)
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for i, (known, searched) in enumerate(halves):
        for source, j in (("its other half", i), (halves[i - 1][0].name, i - 1)):
            prior = assumed(fits[j], halves[j][0], known)
            found = regrets(searched, noise(fits[i], known), *prior, horizon, runs)
            lines.append(row(known.name, source, fits[j].length.value, len(searched.yields), found))
    return "\n".join(lines)


def written(page, text, options):
    """Return a page with the table, and the command that made it, between its marks."""
    before, rest = page.split(BEGIN)
    command = "python docs/fields.py DIRECTORY --write"
    for name, default in (("most", MOST), ("horizon", HORIZON), ("runs", RUNS)):
        if getattr(options, name) != default:
            command += f" --{name} {getattr(options, name)}"
    return f"{before}{BEGIN}\n{text}\n\nMade by `{command}`.\n\n{END}{rest.split(END)[1]}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory")
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page")
    parser.add_argument("--most", type=int, default=MOST, help="plots at most, in either half")
    parser.add_argument("--horizon", type=int, default=HORIZON)
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_args(arguments)
    text = table(options.directory, options.most, options.horizon, options.runs)
    sys.stdout.write(text + "\n")
    if options.write:
        page = written(options.page.read_text(encoding="utf-8"), text, options)
        options.page.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
