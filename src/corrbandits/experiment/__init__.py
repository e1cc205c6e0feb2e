"""An experiment written down in a TOML file: what there is, what is believed of it, who plays, how long.

    [arms]           where the arms lie: grid = [rows, columns]; or csv = "sites.csv", relative to this file, with
                     columns x and y, x alone, or latitude and longitude; or nowhere: count = 5
    [truth]          landscape = "two_peaks" (then [arms] may be left out), means = [...], column = "yield" (of the csv)
                     or draw = { kernel = "matern52", length = 2.0, variance = 100.0, seed = 1, mean = 0.0 };
                     means that change with time are drift = { ..., scale = 200.0 }, switches = { ..., every = 300 } or
                     { ..., at = [100, 250] }, seasons = { ..., period = 365 }, each with what draw has, or
                     recorded = "speeds.csv", a row per arm and a column per time (see `cb.series`);
                     noise_variance (one or one per arm), or rewards = "bernoulli" for rewards 0 and 1. With a family
                     of surfaces in [stress], `corrbandits stress` needs none of these
    [priors.NAME]    mean (one or one per arm; 0 if left out) or column = "prior_mean"; then one of
                     kernel = { name = "exponential", length = 4.0, variance = 10.0, distance = "euclidean" },
                     which makes an `Implicit` belief of more than 10,000 arms,
                     covariance = [[...]], variance (one, inf or one per arm), variance_column = "prior_variance";
                     noise_variance (the truth's if left out). For rewards 0 and 1 also: successes, failures.
                     Or kind = "vague", a prior that learns what it is not told, with any of mean, sd, length,
                     noise_sd, site (a number that is known, or a 90 % interval such as [100, 400]), kernel (a name or
                     several), relative_noise, distance, parts and drift (a number, an interval or true), as for
                     `Vague`. On means that change, besides what a Gaussian prior has: kind = "drifting" with scale
                     (one, or two between which it lies), kind = "windowed" with window, kind = "discounted" with factor
    [policies.NAME]  rule = "UCL", prior = "NAME", and the rule's own parameters, as in Python (horizon is the run's
                     if left out); without a rule, the recommended one for that prior and the run's horizon. The rule
                     within a rule such as Blocked is at of: of = "UCL" or of = { rule = "UCL", a = 2.0 }
    [team]           players = 10: every policy is played by so many, equal, who may share; sharing, graph, collisions,
                     sensed, assignment, kappa and doubt as for `Team`. It may be left out
    [moves]          what moves cost, in rewards: per_move, per_distance; distance and graph, as for `Moves`. Then moves
                     and their cost are recorded, and a rule such as Travelling minds them; of a team, those of all
                     players. It may be left out
    [run]            horizon, runs (100 if left out), seed (0 if left out)
    [stress]         what `corrbandits stress` varies; it may be left out (`stress.experiment` describes its keys)

Whatever is wrong is refused before any work begins, with its line.
"""

from corrbandits.experiment.file import Experiment, ExperimentError, load

__all__ = ["Experiment", "ExperimentError", "load"]
