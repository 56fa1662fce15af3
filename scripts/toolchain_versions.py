"""The versions of Apple's systems that introduced what Swift's own modules declare.

The toolchain for Linux has the same sources of Swift's standard library, Foundation's essentials, Observation and others
as Apple's systems. Its compiler ignores their @available, but its modules keep them, and the symbol graphs name them.
What the modules have no version of is either as old as Swift, or (in Foundation and Dispatch) written for Linux.
"""

import json
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

STANDARD = ["Swift", "_Concurrency", "_StringProcessing", "Synchronization"]
MODULES = [*STANDARD, "Observation", "Dispatch", "Foundation", "FoundationEssentials", "FoundationNetworking"]
MEMBER = {"memberOf", "requirementOf", "optionalRequirementOf"}
# In a record of the index an identifier may be followed by bytes of other things, which can look like letters.
IDENTIFIER = re.compile(rb"s:[\w$:@]+")
FOLLOWING = 8


@dataclass
class Symbol:
    """Something that a module of the toolchain declares."""

    module: str
    name: str
    # By the name of the system; a version is that of the symbol or of a newer type around it.
    versions: dict[str, str]

    @property
    def is_standard(self) -> bool:
        """Whether it is of the standard library."""
        return self.module in STANDARD


def symbols(cache: Path) -> dict[str, Symbol]:
    """All public symbols by their identifiers; they are kept in a file, since reading the modules takes seconds."""
    compiler = subprocess.run(["swiftc", "-version"], capture_output=True, text=True, check=True).stdout
    kept = json.loads(cache.read_text()) if cache.exists() else {}
    if kept.get("compiler") != compiler:
        kept = {"compiler": compiler, "symbols": read()}
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.write_text(json.dumps(kept))
    return {identifier: Symbol(*symbol) for identifier, symbol in kept["symbols"].items()}


def version(text: str) -> tuple[int, ...]:
    """A version, to be compared; 17 and 17.0 are equal."""
    numbers = [int(number) for number in text.split(".")]
    return tuple(numbers + [0] * (4 - len(numbers)))


def read() -> dict[str, tuple[str, str, dict[str, str]]]:
    """Reads the modules."""
    about = subprocess.run(["swiftc", "-print-target-info"], capture_output=True, text=True, check=True).stdout
    target = json.loads(about)["target"]["triple"]
    found: dict[str, tuple[str, str, dict[str, str]]] = {}
    around: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for module in MODULES:
            subprocess.run(
                ["swift", "symbolgraph-extract", "-module-name", module, "-target", target, "-output-dir", folder],
                check=True)
        for file in sorted(Path(folder).glob("*.symbols.json")):
            graph = json.loads(file.read_text())
            module = file.name.split(".")[0].split("@")[0]
            for symbol in graph["symbols"]:
                name = ".".join(symbol["pathComponents"])
                found[symbol["identifier"]["precise"]] = (module, name, introduced(symbol))
            around |= {line["source"]: line["target"] for line in graph["relationships"] if line["kind"] in MEMBER}
    return {identifier: inherited(identifier, found, around) for identifier in found}


def introduced(symbol: dict) -> dict[str, str]:
    """The versions that a symbol of a graph names."""
    return {
        line["domain"]: ".".join(str(line["introduced"].get(part, 0)) for part in ("major", "minor"))
        for line in symbol.get("availability", []) if "introduced" in line and "domain" in line}


def inherited(
    identifier: str, found: dict[str, tuple[str, str, dict[str, str]]], around: dict[str, str],
) -> tuple[str, str, dict[str, str]]:
    """A symbol with the versions of what it is a member of, where these are newer."""
    module, name, versions = found[identifier]
    newest = dict(versions)
    outer = around.get(identifier)
    while outer in found:
        for system, since in found[outer][2].items():
            newest[system] = max(newest.get(system, since), since, key=version)
        outer = around.get(outer)
    return module, name, newest


def named(index: bytes, known: dict[str, Symbol]) -> set[str]:
    """The identifiers of `known` that records of the compiler's index name."""
    used = set()
    for match in set(IDENTIFIER.findall(index)):
        for following in range(FOLLOWING):
            identifier = match[:len(match) - following].decode()
            if identifier in known:
                used.add(identifier)
                break
    return used
