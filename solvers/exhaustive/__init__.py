"""The strategy `exhaustive`, and its three walks through all selections within the limits."""
