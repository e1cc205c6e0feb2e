"""The page of a comparison: one HTML file, its figures as data, its script beside this file."""

from corrbandits.fits.page.html import render

__all__ = ["render"]
