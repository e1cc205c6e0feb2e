"""The mistakes in the print: one record per finding, each with a check that computes its evidence.

The numbers are those of the docs; 1 to 17 were known when the project began, the others were found on the way.
Simulated figures are compared with margins of at least four standard errors and fixed seeds.

>>> from corrbandits.paper.errata import ERRATA
>>> ERRATA[4].where
'section 4.1, remark on correlation structure and initialisation, formula for the variance'
>>> ERRATA[4].check()
"""

from corrbandits.paper.errata import experiments, lemmas, proofs, theorems
from corrbandits.paper.errata.record import Erratum, ErratumError, failed_checks

ERRATA: tuple[Erratum, ...] = tuple(
    sorted(
        (*lemmas.RECORDS, *proofs.RECORDS, *theorems.RECORDS, *experiments.RECORDS), key=lambda record: record.number
    )
)

__all__ = ["ERRATA", "Erratum", "ErratumError", "failed_checks"]
