"""Labels as the JSON that the preprocessing of BertSum and PreSumm reads.

Liu & Lapata 2019 (Text Summarization with Pretrained Encoders): ``format_to_bert`` reads a list of ``{"src": [[token,
...], ...], "tgt": [[token, ...], ...]}`` and labels it by greedy search; here stand ``"labels"`` beside them, for which
that search need not be run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def bertsum_record(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the record of a row of labels, None for one without any.

    Tokens are the blank-separated words of the sentences; BERT's tokenizer goes on from there. The summary is the first
    reference.

    Examples
    --------
    >>> row = {"id": "t", "sentences": ["A cat .", "Rain"], "labels": [1, 0], "references": [["Cats ."]], "status": "x"}
    >>> bertsum_record(row)
    {'id': 't', 'src': [['A', 'cat', '.'], ['Rain']], 'tgt': [['Cats', '.']], 'labels': [1, 0]}
    """
    if row.get("labels") is None or not row.get("references"):
        return None
    return {
        "id": row.get("id"),
        "src": [sentence.split() for sentence in row["sentences"]],
        "tgt": [sentence.split() for sentence in row["references"][0]],
        "labels": row["labels"],
    }


def to_bertsum(rows: Path, output: Path) -> None:
    """Write the rows of a JSON Lines file as one list, a record in memory at a time; rows without labels are left out.

    Raises
    ------
    OSError
        If the output cannot be written.
    """
    with output.open("w", encoding="utf-8", errors="replace") as file:
        before = "["
        for record in _records(rows):
            file.write(f"{before}\n{json.dumps(record, ensure_ascii=False)}")
            before = ","
        file.write("\n]\n" if before == "," else "[]\n")


def _records(rows: Path) -> Iterator[dict[str, Any]]:
    with rows.open(encoding="utf-8") as lines:
        for line in lines:
            if (record := bertsum_record(json.loads(line))) is not None:
                yield record
