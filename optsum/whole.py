"""Whole numbers from callers: converted exactly, or refused with advice on scaling; flags; objects without checks."""

from __future__ import annotations

from collections.abc import Iterable, KeysView, Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Integral, Rational, Real
from typing import TYPE_CHECKING, Any, Final, TypeGuard, TypeVar

from optsum.errors import InputError, OptionError, OptsumError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
LARGEST: Final = 2**62  # Sums with larger numbers might overflow 64-bit integers.
INT64_SAFE: Final = 2**61  # Limit of sums and products of 64-bit integers, some of which are then added.
LARGEST_DENOMINATOR: Final = 2**50  # Beyond it, common denominators leave too little room for numerators in 64 bits.


def whole(
    value: object, what: str, *, least: int | None = None, most: int = LARGEST, error: type[OptsumError] = InputError
) -> int:
    """Return a number as a Python integer.

    `value`: an integer of Python or numpy, or another real number that is whole, such as 3.0 or ``Fraction(6, 2)``.
    `what`: the subject of the message: "The length of unit 3". `least`, `most`: the allowed range; without `least`, its
    lower end is ``-most``. `error`: the exception to raise if the number is not whole, or outside the range.
    """
    if type(value) is not int:
        value = _exact(value, what, error)
    if least is not None and value < least:
        raise error(f"{what} is {value}; it must be {least} or more.")
    if not -most <= value <= most:
        raise error(f"{what} is beyond {most:,}: divide all such numbers by a common factor.")
    return value


def _exact(value: object, what: str, error: type[OptsumError]) -> int:
    import numpy as np

    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool | np.bool_):
        raise error(f"{what} is {bool(value)}; give a whole number, 0 or 1 if that is meant.")
    is_time = isinstance(value, np.timedelta64)  # numpy makes it a subclass of its integers
    if is_time or not isinstance(value, Real | Decimal):
        raise error(f"{what} is {value!r:.40}; give a whole number.")
    if isinstance(value, Integral):
        return int(value)
    if not isinstance(value, Rational) and not isfinite(value):
        raise error(f"{what} is {value}; give a whole number.")
    exact = Fraction(value) if isinstance(value, Rational | Decimal) else Fraction(float(value))
    if exact.denominator != 1:
        shown = Fraction(str(value)) if isinstance(value, float | np.floating | Decimal) else exact
        scale = f"by {shown.denominator}" if shown.denominator <= 10**6 else "by a power of ten, and round them"
        advice = "" if error is OptionError else f": multiply all such numbers {scale}"  # an option stands alone
        raise error(f"{what} is {value}; give a whole number{advice}.")
    return exact.numerator


def whole_numbers(values: object, what: str, *, ordered: bool = True, **range_: Any) -> tuple[int, ...]:
    """Return numbers as a tuple of integers.

    `what`: the name of a number in messages, in which the last {} is replaced by its position: "Length {}". `ordered`:
    whether positions matter, so that sets are refused.
    """
    if not isinstance(values, tuple | list):  # for those, numpy is not imported, which keeps `optsum --help` quick
        import numpy as np

        if isinstance(values, np.ndarray):
            return tuple(whole_array(values, what, **range_).tolist())
    if not is_list(values, ordered=ordered):
        raise range_.get("error", InputError)(f"{_named(what)} is {values!r:.40}: give a list of whole numbers.")
    found = tuple(values)
    if set(map(type, found)) <= {int} and (
        not found or (min(found) >= range_.get("least", -LARGEST) and max(found) <= range_.get("most", LARGEST))
    ):
        return found
    return tuple(whole(value, _named(what, number), **range_) for number, value in enumerate(found))


def _named(what: str, place: int | str = "") -> str:
    before, mark, after = what.rpartition("{}")  # not `format`: a name of the user may hold braces
    return f"{before}{place}{after}" if place != "" and mark else before.rstrip("[ ") + after.lstrip("]")


def is_list(values: Any, *, ordered: bool = True) -> TypeGuard[Iterable[Any]]:
    """Return whether iteration gives the numbers themselves, in an order, and not keys (of dictionaries or Pyomo)."""
    keyed = isinstance(values, str | bytes) or (hasattr(values, "keys") and not hasattr(values, "dtype"))  # pandas
    unordered = isinstance(values, AbstractSet) and not isinstance(values, KeysView)
    single = getattr(values, "ndim", 1) == 0  # an array without dimensions cannot be iterated over
    return isinstance(values, Iterable) and not keyed and not single and not (ordered and unordered)


def whole_array(values: Any, what: str, *, ndim: int = 1, **range_: Any) -> NDArray[np.int64]:
    """Return numbers as an array of 64-bit integers; a given array of this type is not copied.

    `what`, `range_`: as in `whole_numbers`. `ndim`: the required number of dimensions.
    """
    import numpy as np

    error = range_.get("error", InputError)
    plain = isinstance(values, np.ndarray) and not hasattr(values, "mask")
    found = values if plain and values.dtype == np.int64 else _made(values, what, **range_)
    if found.ndim != ndim:
        raise error(f"{_named(what)} has {found.ndim} dimensions, and must have {ndim}.")
    least = range_.get("least")
    if least is not None and found.size and found.min() < least:
        whole(int(found.min()), _named(what, int(found.argmin())), **range_)
    return found


def _made(values: Any, what: str, **range_: Any) -> NDArray[np.int64]:
    import numpy as np

    error = range_.get("error", InputError)
    if isinstance(values, np.ndarray):
        if np.any(getattr(values, "mask", False)):  # without loading numpy.ma
            raise error(f"{_named(what)} has masked numbers: give a number for each.")
        array: NDArray[Any] = np.asarray(values)  # without a mask, which masks nothing
        if array.dtype.kind == "i" or not array.size:
            return array.astype(np.int64)
        shape: tuple[int, ...] = array.shape
        plain = array.dtype.kind == "u" or array.dtype == np.float64  # other types keep their notation for messages
        flat = array.reshape(-1).tolist() if plain else list(array.reshape(-1))
    else:
        # `whole_numbers` raises the error for a non-list.
        rows = list(values if is_list(values) else whole_numbers(values, what, **range_))
        if rows and all(isinstance(row, Iterable) and not isinstance(row, str | bytes) for row in rows):
            nested = [whole_numbers(row, what, **range_) for row in rows]
            if len(set(map(len, nested))) > 1:
                raise error(f"{_named(what)} is in a table whose rows have different lengths.")
            return np.array(nested, np.int64).reshape(len(nested), len(nested[0]))
        shape, flat = (len(rows),), rows
    return np.array(whole_numbers(flat, what, **range_), np.int64).reshape(shape)


def flag(value: object, what: str) -> bool:
    """Return true or false of Python or numpy; `what`: the subject of the message: "The option resume"."""
    if isinstance(value, bool):
        return value
    import numpy as np

    if isinstance(value, np.bool_):
        return bool(value)
    raise OptionError(f"{what} is {value!r:.40}; give true or false.")


def unchecked(kind: type[T], *fields: Mapping[str, Any], **others: Any) -> T:
    """Make an object of a frozen dataclass without its `__init__`; later fields replace earlier ones of the same name.

    It is for values that optsum itself has computed: their checks would take longer than the rest of a short search.
    """
    made = object.__new__(kind)
    for part in (*fields, others):
        made.__dict__.update(part)
    return made
