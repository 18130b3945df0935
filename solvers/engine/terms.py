"""A table as a sum of terms ``weight * min(copies, step)``."""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from optsum.system.compiled import njit


@njit(cache=True)
def terms_of(gains, first, last, price, scale, steps, weights, prices):
    """Split table ``gains[first:last]`` into terms ``weights[k] * min(c, steps[k])`` and share out its price.

    The price goes to the terms so that the bound does not change: terms beyond the table's best count get their
    slope, terms below it nothing, the term at it the rest. Terms that cost have no price.
    """
    found = 0
    paid = -1
    left = price
    for t in range(last - first - 1, 0, -1):
        here = gains[first + t] - gains[first + t - 1]
        after = gains[first + t + 1] - gains[first + t] if first + t + 1 < last else 0
        if here != after:
            steps[found] = t
            weights[found] = here - after
            prices[found] = 0
            if here > after:
                prices[found] = min(left, (here - after) * scale)
                left -= prices[found]
                paid = found
            found += 1
    if paid >= 0:
        prices[paid] += left
    return found


@njit(cache=True)
def gcd(a, b):
    """Greatest common divisor."""
    while b:
        a, b = b, a % b
    return a
