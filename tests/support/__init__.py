"""What tests share: priors and histories, databases, extended precision."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The repository."""
