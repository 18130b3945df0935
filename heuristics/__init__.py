"""Heuristics: strategies without a proof of optimality; results have a certified bound if the problem offers one."""
