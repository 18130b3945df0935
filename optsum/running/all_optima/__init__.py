"""All optima of topics and near-optimal selections, and rows that carry them."""
