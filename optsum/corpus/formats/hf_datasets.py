"""Records of Hugging Face `datasets`: a saved folder, or a dataset of the hub."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from optsum.corpus.formats.lines import Line, broken_off
from optsum.errors import InputError

PREFIX: Final = "hf:"
_WANTED: Final = "pip install 'optsum[hf]'"


def is_dataset_folder(folder: Path) -> bool:
    """Return whether a folder was written by ``save_to_disk`` of `datasets`: one table, or one for each split."""
    return any((folder / name).is_file() for name in ("dataset_info.json", "dataset_dict.json", "state.json"))


def folder_records(folder: Path) -> Iterator[Line]:
    """Return the records of a folder that ``save_to_disk`` wrote."""
    datasets = _package(str(folder))
    try:
        found = datasets.load_from_disk(str(folder))
    except Exception as error:  # of many kinds, the package's own among them
        raise InputError(f"the dataset {folder} cannot be read: {_said(error)}") from error
    if not hasattr(found, "features"):  # a DatasetDict
        splits = list(found)
        if len(splits) != 1:
            raise InputError(
                f"the dataset {folder} holds the splits {', '.join(splits) or '(none)'}; give the folder of one, such "
                f"as {folder / (splits[0] if splits else 'train')}"
            )
        found = found[splits[0]]
    return _records(found, str(folder))


def hub_records(name: str) -> Iterator[Line]:
    """Return the records of ``hf:NAME[:CONFIG[:SPLIT]]`` as a stream; a single split need not be named."""
    datasets = _package(name)
    dataset, config, split = _parts(name)
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # what fails is said once, here
    try:
        splits = list(datasets.get_dataset_split_names(dataset, config)) if split is None else [split]
        found = datasets.load_dataset(dataset, config, split=splits[0], streaming=True)
        rows = iter(found)
        first = list(islice(rows, 1))  # only reading it shows whether the data are there
    except ConnectionError as error:
        raise InputError(
            f"the dataset {name} cannot be loaded without the hub of Hugging Face, which does not respond: check "
            f"the network, or give a folder that save_to_disk wrote elsewhere"
        ) from error
    except Exception as error:
        raise InputError(f"the dataset {name} cannot be loaded: {_said(error)}") from error
    if len(splits) != 1:
        raise InputError(
            f"the dataset {name} has the splits {', '.join(splits)}; say which: "
            f"{PREFIX}{dataset}:{config or ''}:{splits[0]}"
        )
    return _records(chain(first, rows), name)


def _parts(name: str) -> tuple[str, str | None, str | None]:
    dataset, *rest = name.removeprefix(PREFIX).split(":")
    if not dataset or len(rest) > 2:
        raise InputError(
            f"{name} names no dataset; write {PREFIX}NAME, {PREFIX}NAME:CONFIG or {PREFIX}NAME:CONFIG:SPLIT"
        )
    config, split = [*(part or None for part in rest), None, None][:2]
    return dataset, config, split


def _package(name: str) -> Any:
    try:
        import datasets
    except ImportError as error:
        raise InputError(f"{name} is a dataset of Hugging Face, which needs the package datasets: {_WANTED}") from error
    datasets.disable_progress_bars()
    return datasets


def _records(rows: Any, name: str) -> Iterator[Line]:
    number = 0
    try:
        for number, row in enumerate(rows, start=1):
            yield Line(f"{name}:{number}", dict(row))
    except Exception as error:  # noqa: BLE001 - a network, a disk, a decoder of the package
        yield broken_off(OSError(_said(error)), name, number + 1)


def _said(error: Exception) -> str:
    return f"{' '.join(str(error).split()):.200}".rstrip(".") or type(error).__name__
