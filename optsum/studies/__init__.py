"""The papers' experiments, on any data: each returns the paper's tables."""

from optsum.studies.tsc3 import Tsc3Score, Tsc3Study, study_tsc3

__all__ = ["Tsc3Score", "Tsc3Study", "study_tsc3"]
