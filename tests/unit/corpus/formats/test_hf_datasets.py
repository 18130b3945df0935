"""Test datasets of Hugging Face, as saved folders and by name, offline."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from optsum.corpus.formats import folder_records, hub_records, is_dataset_folder
from optsum.errors import InputError

datasets: Any = pytest.importorskip("datasets")

ROWS = [
    {"article": "One came. Two left.", "highlights": "Two left.", "id": "a"},
    {"article": "Three.", "highlights": "Three.", "id": "b"},
]


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    name = "HF_HUB_OFFLINE" if hasattr(datasets.config, "HF_HUB_OFFLINE") else "HF_DATASETS_OFFLINE"  # before 3.0
    monkeypatch.setattr(datasets.config, name, True)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    datasets.Dataset.from_list(ROWS).save_to_disk(str(tmp_path / "saved"))
    return tmp_path / "saved"


def write(folder: Path, **splits: list[dict[str, Any]]) -> Path:
    folder.mkdir()
    for split, rows in splits.items():
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_a_saved_dataset_is_read(saved: Path) -> None:
    assert is_dataset_folder(saved)
    lines = list(folder_records(saved))
    assert [(line.value, line.source) for line in lines] == [(ROWS[0], f"{saved}:1"), (ROWS[1], f"{saved}:2")]


def test_a_saved_folder_of_splits_is_read(tmp_path: Path) -> None:
    one = datasets.Dataset.from_list(ROWS)
    datasets.DatasetDict({"train": one}).save_to_disk(str(tmp_path / "one"))
    assert len(list(folder_records(tmp_path / "one"))) == 2
    datasets.DatasetDict({"train": one, "test": one}).save_to_disk(str(tmp_path / "two"))
    assert is_dataset_folder(tmp_path / "two")
    with pytest.raises(InputError, match=r"splits train, test; give the folder of one.*train"):
        folder_records(tmp_path / "two")
    assert len(list(folder_records(tmp_path / "two" / "test"))) == 2


def test_a_damaged_folder_is_one_sentence(saved: Path) -> None:
    (saved / "state.json").write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        folder_records(saved)
    assert not is_dataset_folder(saved.parent)


def test_a_dataset_is_read_by_its_name(tmp_path: Path) -> None:
    folder = write(tmp_path / "data", train=ROWS)
    lines = list(hub_records(f"hf:{folder}"))
    assert [line.value for line in lines] == ROWS
    assert [line.value for line in hub_records(f"hf:{folder}:default:train")] == ROWS


def test_a_split_must_be_said_where_there_are_several(tmp_path: Path) -> None:
    folder = write(tmp_path / "data", train=ROWS, test=ROWS[:1])
    with pytest.raises(InputError, match=r"splits train, test; say which: hf:.*::train"):
        hub_records(f"hf:{folder}")
    assert [line.value for line in hub_records(f"hf:{folder}::test")] == ROWS[:1]


@pytest.mark.parametrize("name", ["hf:", "hf:a:b:c:d", "hf:no/such-dataset-here", "hf:/no/such/folder"])
def test_a_name_that_leads_nowhere_is_one_sentence(name: str) -> None:
    with pytest.raises(InputError) as found:
        hub_records(name)
    assert "\n" not in str(found.value)


def test_a_row_that_cannot_be_decoded_ends_the_reading(tmp_path: Path) -> None:
    folder = write(tmp_path / "data", train=ROWS)
    with (folder / "train.jsonl").open("a") as file:
        file.write('{"article": \n')
    # datasets may read the first rows together with the bad one; then none is returned
    with suppress(InputError):
        assert "breaks off" in (list(hub_records(f"hf:{folder}::train"))[-1].error or "")


def test_without_the_package_datasets_the_error_names_it(monkeypatch: pytest.MonkeyPatch, saved: Path) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    for read, name in [(folder_records, saved), (hub_records, "hf:a")]:
        with pytest.raises(InputError, match=r"pip install 'optsum\[hf\]'"):
            read(name)  # type: ignore[operator]
