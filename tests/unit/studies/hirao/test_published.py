"""Check that the study reproduces correlations published for real judgments (Table 6 of Hirao et al. 2017)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from optsum.report.tables import Cell
from optsum.studies.hirao import HiraoStudy, correlations


def test_published_correlations_come_out_of_table_6(shared_data: Path) -> None:
    """Check the four correlations in data/README.md from stored scores of 24 systems on 50 topics of REALSumm."""
    stored = map(json.loads, (shared_data / "realsumm" / "systems.jsonl").read_text(encoding="utf-8").splitlines())
    study = HiraoStudy(resamples=20, least_found=0)
    for given in stored:
        if not any(row["id"] == given["topic_id"] for row in study.rows):
            study.rows.append({"kind": "topic", "id": given["topic_id"]})
            study.rows += [
                {"kind": "problem", "id": given["topic_id"], "metric": metric, "references": setting, "complete": True}
                | {"draws": [[0]]}
                for metric in ("rouge-1", "rouge-2")
                for setting in ("single", "multi")
            ]
        scores = {metric: given["published_scores"][f"rouge_{metric[-1]}_recall"] for metric in ("rouge-1", "rouge-2")}
        study.rows += [
            {"kind": "system", "id": given["topic_id"], "system": given["system"], "human": given["human"]}
            | {"metric": metric, "multi": score, "selection": [0], "others": 0, "f_single": score, "f_multi": score}
            for metric, score in scores.items()
        ]
    (table,) = correlations(study)
    found = {row[0]: (row[1].value, row[4].value) for row in table.rows if isinstance(row[1], Cell)}  # type: ignore[attr-defined]
    for metric, linear, ranks in (("ROUGE-1", 0.8537, 0.8765), ("ROUGE-2", 0.8949, 0.8748)):
        for name in (metric, *(f"F-measure (R{metric[-1]}) ({setting}-M)" for setting in ("single", "multi"))):
            assert found[name] == pytest.approx((linear, ranks), abs=5e-5), name
    assert "24 of 24 systems" in table.text()
    assert "the 50 topics that all of them have" in table.text()
