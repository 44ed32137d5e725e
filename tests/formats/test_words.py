"""Word lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from hybridcli.errors import DataError
from hybridcli.formats.words import read_words


def test_comments_and_blank_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "w.txt"
    path.write_text("# words\nmore than\n\n  vs \n")
    assert read_words(str(path)) == ["more than", "vs"]
    path.write_text("# nothing\n")
    with pytest.raises(DataError, match="holds no words"):
        read_words(str(path))
