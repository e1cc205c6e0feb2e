"""Which model explains whose choices: a table of choices in; fits, a comparison, figures and a page out.

From the outside in::

    files                    what `corrbandits fit` writes
    page, figures, sentences what it shows and says
    standings, kinds         models over all people, and whether people are of a few kinds
    campaign, outcomes       every person by every model, kept as soon as it is done
    models, tables           models by name, and people from a file with the usual headings
"""
