"""Upper bounds by heuristics, and the exact ones (Akhmetov et al. 2022)."""
