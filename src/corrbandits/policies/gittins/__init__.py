"""The finite-horizon Gittins index of one Gaussian arm: see `table`."""

from corrbandits.policies.gittins.table import TABLE_ENDS, index_in_deviations

__all__ = ["TABLE_ENDS", "index_in_deviations"]
