"""The page of a report: one HTML file, its figures as data, its script beside this file."""

from corrbandits.arena.page.html import render

__all__ = ["render"]
