"""The page of a stress test: one HTML file, its figures as data, its style and script beside this file."""

from corrbandits.stress.page.html import render

__all__ = ["render"]
