"""Make labels for training, hard and soft, as JSON Lines: python label_dataset.py [TOPICS] > labels.jsonl."""

import json
import sys
from pathlib import Path

import optsum

NEWS = Path(__file__).parent / "data" / "news.jsonl"

topics = sys.argv[1] if len(sys.argv) > 1 else NEWS
for row in optsum.labels(topics, metric="rouge-2", max_length=100, soft=True):
    kept = {name: row[name] for name in ("id", "labels", "shares", "count", "status")}
    print(json.dumps({**kept, "shares": [round(share, 4) for share in row["shares"] or []]}))
