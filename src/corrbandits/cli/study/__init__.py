"""The commands of `corrbandits study`."""
