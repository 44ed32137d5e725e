"""Encoding through hybridcli against the bare model on the same length-sorted batches, in float32 and bfloat16.

    python -m tests.bench.encoding [--windows 512 --repeat 3]

The windows are the demo's. Bare: the library's own ``encode``, given the batches in the same order. Ours adds what an
index needs: prefixes, counting what the encoder cannot see, checksums and a journal to go on from. All take turns in
one process, so that what else the machine does meets each of them; loading the model is not counted.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np

from hybridcli.formats.documents import read_documents
from hybridcli.search.encoding import Workspace, encode_collection, longest_first
from hybridcli.search.models import ModelSpec
from hybridcli.search.transformer import TransformerEncoder
from hybridcli.text.cutting import cut
from hybridcli.text.filings import parse_filing
from tests.support import ROOT


def windows(count: int) -> list[tuple[str, str]]:
    """The first windows of the demo's filings: (docno, text)."""
    filings = read_documents([str(ROOT / "fixtures" / "filings")])
    units = (unit for filing in filings for unit in parse_filing(filing.page or b"", filing.docno))
    return list(islice(((window.id, window.contents) for unit in units for window in cut(unit)), count))


def bare(encoder: TransformerEncoder, passages: list[tuple[str, str]]) -> Callable[[], object]:
    """The library's own encode, batch by batch."""
    texts = [text for _, text in passages]
    plan = longest_first(texts, encoder.batch)

    def run() -> object:
        return [
            encoder._model.encode([texts[at] for at in batch], batch_size=len(batch), show_progress_bar=False)
            for batch in plan
        ]

    return run


def ours(encoder: TransformerEncoder, passages: list[tuple[str, str]]) -> Callable[[], object]:
    """What index-dense does between loading the model and building the index."""

    def run() -> object:
        with tempfile.TemporaryDirectory() as folder:
            workspace = Workspace(Path(folder), {}, encoder.dim)
            found = encode_collection(
                passages, len(passages), encoder, workspace, batch=encoder.batch, dim=None
            )
            workspace.close()
            return found

    return run


def main() -> None:
    """Time all in turn and print windows a second and ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--windows", type=int, default=512)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    passages = windows(options.windows)
    jobs = {}
    for dtype in ("float32", "bfloat16"):
        encoder = TransformerEncoder(ModelSpec(dtype=dtype), ["cpu"])
        jobs[f"bare {dtype}"], jobs[f"hybridcli {dtype}"] = bare(encoder, passages), ours(encoder, passages)
        encoder.encode([[text for _, text in passages[:32]]], "")  # the first batch sets things up
    best = dict.fromkeys(jobs, np.inf)
    for _ in range(options.repeat):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            best[name] = min(best[name], time.perf_counter() - start)
    print(f"{len(passages):,} windows of the demo, best of {options.repeat}")
    for name, seconds in best.items():
        print(f"{name:<20} {len(passages) / seconds:7.1f} windows a second")
    for dtype in ("float32", "bfloat16"):
        print(f"hybridcli / bare, {dtype:<9} {best[f'bare {dtype}'] / best[f'hybridcli {dtype}']:6.2f} x")
    print(f"bfloat16 / float32 {best['hybridcli float32'] / best['hybridcli bfloat16']:15.2f} x")


if __name__ == "__main__":
    main()
