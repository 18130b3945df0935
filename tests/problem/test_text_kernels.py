"""Text kernels are parts of getting ready, which another process can run by their names."""

from __future__ import annotations

import pkgutil

from optsum.metrics.gram_kernels import counted
from optsum.metrics.official_kernel import official_hits
from optsum.problem import text_kernels
from optsum.problem.cover_kernel import features_of
from optsum.system.compiling import collected
from optsum.text.word_kernel import number_words


def test_parts_are_found_by_name_and_leave_one_signature_each() -> None:
    parts = collected(text_kernels.prepare)
    assert len(parts) == 2
    for part in parts:
        assert pkgutil.resolve_name(f"{part.__module__}:{part.__qualname__}") is part
        part()
    for kernel in (number_words, counted, features_of, official_hits):
        assert len(kernel.signatures) == 1, kernel
