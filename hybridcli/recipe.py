"""Recipes: what made an output, so that anyone can make it again or see that an input has changed since.

``--recipe`` writes ``OUTPUT.recipe.json`` beside the main output; ``--ir-metadata`` puts an ir_metadata block
(Breuer, Keller and Schaer, SIGIR 2022) into the head of a run, as comment lines.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import json
import os
import platform
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

import hybridcli
from hybridcli.errors import DataError, HybridcliError, UsageError
from hybridcli.formats.files import LEDGER, STDIN, Ledger, is_ordinary, read_bytes, write_text

SCHEMA = "hybridcli/recipe/1"
# the option that names a command's main output
MAIN_OUTPUTS = ("output", "qrels")


def sha256(path: Path) -> str:
    """Hash a file, or a folder as the hashes and names of its files in byte order."""
    if path.is_dir():
        digest = hashlib.sha256()
        for file in sorted(file for file in path.rglob("*") if file.is_file()):
            digest.update(f"{sha256(file)}  {file.relative_to(path)}\n".encode())
        return digest.hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def recordable(function: Callable[..., Any], *, writes_run: bool) -> Callable[..., Any]:
    """Give a command ``--recipe``, and ``--ir-metadata`` when its output is a run.

    Everything the command opens through ``formats.files`` is recorded, so no command can forget an input.
    """
    signature = inspect.signature(function)
    if not set(MAIN_OUTPUTS) & set(signature.parameters) or "recipe" in signature.parameters:
        return function
    added = {"recipe": "Write OUTPUT.recipe.json: command, options, version, SHA-256 of inputs."}
    if writes_run:
        added["ir_metadata"] = "Put the same, as an ir_metadata block of # lines, into the run's head."

    @functools.wraps(function)
    def command(**options: Any) -> Any:
        recipe, ir_metadata = options.pop("recipe"), options.pop("ir_metadata", False)
        for key, value in options.items():
            if value == "" or (isinstance(value, list) and "" in value):
                shown = key.replace("_", "-")
                raise UsageError(f"{shown} is given as an empty word; is a variable of the shell not set?")
        name = function.__name__.replace("_", "-")
        output = options[next(key for key in MAIN_OUTPUTS if key in signature.parameters)]
        if recipe and (output in (None, STDIN) or not is_ordinary(output)):
            raise UsageError("--recipe needs an output file: give -o FILE")
        with recording() as ledger:
            if ir_metadata and output is not None:
                ledger.heads[output] = lambda: ir_metadata_head(name, options, ledger)
            try:
                result = function(**options)
            except EOFError as error:  # which typer would take for Ctrl-C
                raise HybridcliError(f"an input ends too early ({error}); is a file cut short?") from None
            if ir_metadata and output != STDIN and output not in ledger.outputs:
                raise UsageError(
                    "--ir-metadata goes into the head of the run that -o names, and -o names none here"
                )
            if recipe:
                text = json.dumps(document(name, options, ledger), indent=1) + "\n"
                write_text(f"{output.rstrip('/')}.recipe.json", text)
        return result

    extra = [
        inspect.Parameter(
            key,
            inspect.Parameter.KEYWORD_ONLY,
            default=False,
            annotation=Annotated[
                bool, typer.Option(f"--{key.replace('_', '-')}", help=text, show_default=False)
            ],
        )
        for key, text in added.items()
    ]
    annotations = inspect.get_annotations(function, eval_str=True)
    parameters = [p.replace(annotation=annotations[p.name]) for p in signature.parameters.values()]
    command.__signature__ = signature.replace(parameters=[*parameters, *extra])  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in (*parameters, *extra)}
    return command


@contextlib.contextmanager
def recording() -> Iterator[Ledger]:
    """Collect the names of all files opened in the block; its outputs appear together when it ends well, or not."""
    ledger = Ledger()
    token = LEDGER.set(ledger)
    try:
        yield ledger
        ledger.appear()
    finally:
        ledger.drop()
        LEDGER.reset(token)


def document(command: str, options: Mapping[str, Any], ledger: Ledger) -> dict[str, Any]:
    """The recipe as JSON-ready data."""
    return {
        "schema": SCHEMA,
        "command": command,
        "options": dict(options),
        "version": hybridcli.__version__,
        "python": platform.python_version(),
        "inputs": [_entry(path) for path in ledger.inputs],
        "outputs": [_entry(path, ledger.place_of(path)) for path in ledger.outputs],
    }


def _entry(path: str, place: Path | None = None) -> dict[str, str | None]:
    """A file and its hash; none for a stream or pipe, which cannot be read a second time."""
    lasting = path != STDIN and is_ordinary(path)
    return {"path": path, "sha256": sha256(place or Path(path)) if lasting else None}


def ir_metadata_head(command: str, options: Mapping[str, Any], ledger: Ledger) -> bytes:
    """The block for the head of a run; YAML, of which JSON strings are a part."""
    inputs = [
        f"    - path: {json.dumps(entry['path'])}\n      sha256: {entry['sha256'] or 'null'}"
        for entry in map(_entry, ledger.inputs)
    ]
    settings = [f"    {key}: {json.dumps(value)}" for key, value in options.items() if value is not None]
    lines = [
        "ir_metadata.start",
        "implementation:",
        "  executable:",
        f"    cmd: {json.dumps('hybridcli ' + command)}",
        f"  software: {{hybridcli: {json.dumps(hybridcli.__version__)}, python: "
        f"{json.dumps(platform.python_version())}}}",
        "method:",
        "  automatic: true",
        "  options:",
        *"\n".join(settings).split("\n"),
        "data:",
        *(["  inputs:", *"\n".join(inputs).split("\n")] if inputs else ["  inputs: []"]),
        "ir_metadata.end",
    ]
    return "".join(f"# {line}\n" for line in lines).encode("utf-8")


def stale(path: str) -> list[str]:
    """Check a recipe; give one line for each input or output that is gone or has changed since."""
    try:
        recipe = json.loads(read_bytes(path))
        if recipe["schema"] != SCHEMA:
            raise DataError(f"is a recipe of another form, {recipe['schema']!r}", path=path)
        entries = [
            (kind, Path(entry["path"]), entry["sha256"])
            for kind in ("input", "output")
            for entry in recipe[f"{kind}s"]
        ]
        for _, file, _ in entries:
            os.fsencode(file)  # ValueError: no file can be called so
    except (ValueError, KeyError, TypeError):
        raise DataError(f"is not a recipe ({SCHEMA})", path=path) from None
    problems = []
    for kind, file, checksum in entries:
        if checksum is None:
            continue
        if not file.exists():
            where = "" if file.is_absolute() else " (looked for from the current folder)"
            problems.append(f"{kind} {file} is gone{where}")
        elif not is_ordinary(str(file)):
            problems.append(f"{kind} {file} is a device or a pipe now")
        elif sha256(file) != checksum:
            problems.append(f"{kind} {file} has changed since (stale)")
    return problems
