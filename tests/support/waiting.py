"""Waiting for what other processes do."""

import time


def until(condition, seconds=60):
    """Wait for something; return whether it came."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()
