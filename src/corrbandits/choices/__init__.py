"""People: how likely their choices are under a belief, an index and a softmax, and which prior explains them.

The shortest way::

    people = cb.choices.read_csv("choices.csv", person="id", arm=["x", "y"], reward="z", given=1)
    model = cb.choices.Model(kernel=cb.SquaredExponential(1.0), prior_mean=50.0, prior_sd=20.0)
    fits = cb.choices.fit_people(people, model, threads=2)         # values, errors, notes, aic, bic of each
    foreseen = cb.choices.predict_people(people, model)            # each round by a fit to the others
    cb.choices.compare([[...], ...])                               # log evidence: people by models
    again = cb.choices.simulate(model, fits[0].values, environments, horizon=40, seed=1)
    population = cb.choices.fit_population(people, model)          # people as draws from one population
    tree = cb.choices.to_datatree(population, people)              # for ArviZ
    cb.choices.recover(population, environments)                   # are such parameters found again?

There are four nouns: a `Person` has `Round`s and is all there is of data; a `Model` says what is believed, by which
index is chosen, and which of nine parameters (`PARAMETERS`) are fixed, free or shared; a `Fit` says what was found, and
a `Population` how people are spread.

From the outside in::

    people, reading       who chose what; from arrays, a table or a CSV file
    model, parameters, priors    what is said of people, and the numbers it depends on
    recovery, confusion, planning, checking, drawing    what such data can tell, and if people are as the model says
    tree                  what was found as an xarray.DataTree, in the groups that ArviZ knows
    population, pooling, iteration, modes    partial pooling over people
    group, sharing, comparing     several people, rounds left out, and which model most people follow
    fitting, bounds, curvature    the top of the likelihood, standard errors, profiles, and where a search may go
    likelihood            the likelihood of one person, its gradient, and its top over what is linear (a concave logit)
    views, correlations, trials    what was believed before each trial
    compiled              the loops
    simulating, spreading    people made up; many side by side, kept in a folder

What cannot be told apart from choices: prior_sd and exploration (their product alone matters, so one of them is fixed),
the deviations of rewards and of the prior (their ratio alone matters, so `noise` is that ratio), and a constant added
to all utilities.
"""

from corrbandits.choices.checking import behaviour, predictive_check
from corrbandits.choices.comparing import Comparison, compare
from corrbandits.choices.confusion import Confusion, recover_models
from corrbandits.choices.drawing import draw_check, draw_confusion, draw_power, draw_recovery
from corrbandits.choices.fitting import Fit, fit, profile
from corrbandits.choices.group import Prediction, fit_people, leave_future_out, leave_one_round_out, predict_people
from corrbandits.choices.likelihood import choice_probabilities, gradient, log_likelihood
from corrbandits.choices.model import Model
from corrbandits.choices.parameters import PARAMETERS, Parameter
from corrbandits.choices.people import Person, Round
from corrbandits.choices.planning import Power, power
from corrbandits.choices.pooling import fit_population
from corrbandits.choices.population import Population
from corrbandits.choices.priors import Prior, Steady, ToldNothing, Wandering
from corrbandits.choices.reading import from_frame, read_csv
from corrbandits.choices.recovery import Recovery, recover
from corrbandits.choices.sharing import Fits
from corrbandits.choices.simulating import simulate
from corrbandits.choices.tree import to_datatree

__all__ = [
    "PARAMETERS",
    "Comparison",
    "Confusion",
    "Fit",
    "Fits",
    "Model",
    "Parameter",
    "Person",
    "Population",
    "Power",
    "Prediction",
    "Prior",
    "Recovery",
    "Round",
    "Steady",
    "ToldNothing",
    "Wandering",
    "behaviour",
    "choice_probabilities",
    "compare",
    "draw_check",
    "draw_confusion",
    "draw_power",
    "draw_recovery",
    "fit",
    "fit_people",
    "fit_population",
    "from_frame",
    "gradient",
    "leave_future_out",
    "leave_one_round_out",
    "log_likelihood",
    "power",
    "predict_people",
    "predictive_check",
    "profile",
    "read_csv",
    "recover",
    "recover_models",
    "simulate",
    "to_datatree",
]
