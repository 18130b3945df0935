"""The exact engine for everything that the normal form holds: joints, parents, minimum lengths, negative terms."""

from .engine import GeneralEngine

__all__ = ["GeneralEngine"]
