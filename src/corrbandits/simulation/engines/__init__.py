"""The engines that play runs."""
