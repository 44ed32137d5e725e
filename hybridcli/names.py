"""Names as one text: cut out of files, looked up and written without an object for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybridcli import native

if TYPE_CHECKING:
    import polars as pl

LINE_END = 10


@dataclass(frozen=True, eq=False)
class Names:
    """V names: ``text`` is UTF-8 with a line feed after each, ``starts`` says where each begins: int64[V + 1]."""

    text: bytes
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, names: Sequence[str]) -> Names:
        """Take names as they come; none holds a line feed."""
        text = "".join(f"{name}\n" for name in names).encode("utf-8")
        ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == LINE_END)
        return cls(text, np.append(0, ends + 1))

    @classmethod
    def cut(cls, raw: bytes, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Names:
        """Cut name n out of ``raw``, where it begins at ``starts[n]`` and has ``sizes[n]`` bytes."""
        places = np.zeros(len(sizes) + 1, dtype=np.int64)
        np.cumsum(sizes + 1, out=places[1:])
        lines = np.empty(places[-1], dtype=np.uint8)
        if native.loops is not None:
            native.loops.join(raw, starts, sizes, lines)
        elif len(sizes):
            at = np.repeat(starts - places[:-1], sizes + 1) + np.arange(places[-1])
            lines = np.frombuffer(raw, dtype=np.uint8)[np.minimum(at, len(raw) - 1)]
            lines[places[1:] - 1] = LINE_END
        return cls(lines.tobytes(), places)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, code: int) -> str:
        if not 0 <= code < len(self):
            raise IndexError(code)
        return self.text[self.starts[code] : self.starts[code + 1] - 1].decode("utf-8")

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_list())

    def to_list(self) -> list[str]:
        """All names, as strings."""
        return self.text.decode("utf-8").split("\n")[:-1]

    @cached_property
    def series(self) -> pl.Series:
        """The names as a polars String series [V]."""
        import polars as pl

        if not len(self):
            return pl.Series("docno", [], dtype=pl.String)
        return pl.Series("docno", [self.text[:-1].decode("utf-8")]).str.split("\n").explode()
