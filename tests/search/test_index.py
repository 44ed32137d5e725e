"""Index folders: whole or not at all, verified when opened, never over something else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hybridcli.errors import DataError, UsageError
from hybridcli.search.index import finish_index, new_index, open_index, sorted_order, write_docnos


def make(path: Path, *docnos: str) -> Path:
    with new_index(str(path)) as folder:
        write_docnos(folder, [docnos[place] for place in sorted_order(docnos)])
        finish_index(folder, str(path), engine="e", documents=len(docnos), options={"x": 1})
    return path


def test_round_trip(tmp_path: Path) -> None:
    index = open_index(str(make(tmp_path / "i", "a", "ä", "名")))
    assert (index.engine, index.documents, index.options) == ("e", 3, {"x": 1})
    assert index.docnos() == ["a", "ä", "名"]
    assert [path.name for path in tmp_path.iterdir()] == ["i"]


def test_an_empty_collection(tmp_path: Path) -> None:
    assert open_index(str(make(tmp_path / "i"))).docnos() == []


def test_the_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    one, two = make(tmp_path / "1", "a"), make(tmp_path / "2", "a")
    assert (one / "meta.json").read_bytes() == (two / "meta.json").read_bytes()


def test_an_index_is_replaced(tmp_path: Path) -> None:
    make(tmp_path / "i", "a")
    assert open_index(str(make(tmp_path / "i", "b"))).docnos() == ["b"]
    assert [path.name for path in tmp_path.iterdir()] == ["i"]


def test_a_failure_leaves_the_old_index_and_nothing_else(tmp_path: Path) -> None:
    make(tmp_path / "i", "a")
    with pytest.raises(DataError, match="stands twice"):
        make(tmp_path / "i", "b", "b")
    assert open_index(str(tmp_path / "i")).docnos() == ["a"]
    assert [path.name for path in tmp_path.iterdir()] == ["i"]


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one.jpg").write_text("x")
    with pytest.raises(UsageError, match="holds no index; it is left alone"):
        make(tmp_path / "photos", "a")
    assert (tmp_path / "photos" / "one.jpg").read_text() == "x"
    (tmp_path / "photos" / "meta.json").write_text('{"format": "something else"}')
    with pytest.raises(UsageError, match="left alone"):
        make(tmp_path / "photos", "a")


def test_a_file_of_someone_else_in_an_index_is_not_lost(tmp_path: Path) -> None:
    (make(tmp_path / "i", "a") / "bm25.run").write_text("x")
    with pytest.raises(UsageError, match=r"holds bm25\.run, which is not of the index and would be lost"):
        make(tmp_path / "i", "b")
    assert (tmp_path / "i" / "bm25.run").read_text() == "x"
    assert open_index(str(tmp_path / "i")).docnos() == ["a"]


def test_a_place_that_another_command_took_meanwhile(tmp_path: Path) -> None:
    with new_index(str(tmp_path / "i")) as folder:
        (tmp_path / "i").mkdir()
        (tmp_path / "i" / "x").write_text("x")
        with pytest.raises(UsageError, match="holds no index"):
            finish_index(folder, str(tmp_path / "i"), engine="e", documents=0, options={})
    assert [path.name for path in tmp_path.iterdir()] == ["i"]


def test_an_option_that_is_not_there_names_the_file(tmp_path: Path) -> None:
    index = open_index(str(make(tmp_path / "i", "a")))
    with pytest.raises(DataError, match=r"meta\.json: misses the option analyzer; build the index again"):
        index.options["analyzer"]


def test_an_empty_folder_is_used(tmp_path: Path) -> None:
    (tmp_path / "i").mkdir()
    assert open_index(str(make(tmp_path / "i", "a"))).documents == 1


@pytest.mark.parametrize(("place", "message"), [("file", "is a file"), ("gone/i", "does not exist")])
def test_impossible_places(tmp_path: Path, place: str, message: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match=message):
        make(tmp_path / place, "a")


def test_what_is_no_index(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such index; build one with"):
        open_index(str(tmp_path / "none"))
    with pytest.raises(DataError, match=r"is not an index \(no meta.json\)"):
        open_index(str(tmp_path))
    (tmp_path / "meta.json").write_text("{}")
    with pytest.raises(DataError, match="was not written by hybridcli"):
        open_index(str(tmp_path))
    (tmp_path / "meta.json").write_text("{")
    with pytest.raises(DataError, match=r"meta.json: cannot be read .*; build the index again"):
        open_index(str(tmp_path))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "format version 2, this hybridcli reads version 1; build it again"),
        ({"engine": None, "documents": "many"}, "misses a field"),
        ({"files": [1]}, "misses a field"),
    ],
)
def test_another_version_or_a_broken_meta(tmp_path: Path, change: dict[str, object], message: str) -> None:
    meta = make(tmp_path / "i", "a") / "meta.json"
    meta.write_text(json.dumps({**json.loads(meta.read_text()), **change}))
    with pytest.raises(DataError, match=message):
        open_index(str(tmp_path / "i"))


def test_altered_cut_and_missing_files(tmp_path: Path) -> None:
    docnos = make(tmp_path / "i", "a", "b") / "docnos.txt"
    docnos.write_text("a\nc\n")
    with pytest.raises(DataError, match=r"docnos.txt: has changed since it was written \(checksum\)"):
        open_index(str(tmp_path / "i"))
    docnos.write_text("a\n")
    with pytest.raises(DataError, match=r"docnos.txt: has 2 bytes, 4 were written"):
        open_index(str(tmp_path / "i"))
    docnos.unlink()
    with pytest.raises(DataError, match=r"docnos.txt: this file of the index is missing"):
        open_index(str(tmp_path / "i"))


def test_docnos_are_checked_and_ordered_by_bytes() -> None:
    docnos = ["b", "é", "Z", "10", "9", "\U0001f600", "\ufb01"]
    in_order = [docnos[place] for place in sorted_order(docnos)]
    assert in_order == sorted(docnos, key=str.encode)
    with pytest.raises(DataError, match="docno 9 stands twice"):
        sorted_order(["9", "10", "9"])
    for bad in ("", "a b", "a\u00a0b", " a", "a\n"):
        with pytest.raises(DataError, match="is empty or has a blank"):
            sorted_order(["c", bad])
