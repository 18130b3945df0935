"""The best value at many maximum lengths, each proven."""
