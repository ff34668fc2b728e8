"""YAML read carefully: plain data only, no aliases (a small file could grow huge), no duplicate keys, lines kept."""

from collections.abc import Iterator
from typing import Any

import yaml

from itembank.errors import Issue
from itembank.formats.base import Origin, escape

DEPTH_LIMIT = 30  # far more than any document of ours has
_LOADER = getattr(
    yaml, "CSafeLoader", yaml.SafeLoader
)  # the C parser, where PyYAML was built with it: ten times faster
_PLAIN = frozenset(f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "seq", "map"))


def load(text: str, file: str, *, first_line: int = 1) -> tuple[Any, Origin, tuple[Issue, ...]]:
    """The document as plain data (None if it can't be had), where its parts stand, and what is wrong with it.

    first_line : line of the file at which `text` begins
    """
    origin = Origin(file, {"": first_line})
    try:
        node = yaml.compose(text, Loader=_LOADER)
        if node is None:
            return None, origin, (origin.issue("", "is empty"),)
        lines: dict[str, int] = {}
        complaints = list(_walk(node, "", lines, set(), first_line))
        origin = Origin(file, lines)
        if complaints:
            return None, origin, tuple(origin.issue(pointer, what) for pointer, what in complaints)
        return yaml.constructor.SafeConstructor().construct_document(node), origin, ()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Origin(file, {"": first_line + mark.line} if mark else {})
        return None, place, (place.issue("", f"is not valid YAML: {error.problem or error.context}"),)
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError) as error:
        # The middle three: PyYAML on a scalar that isn't what its tag says, such as `!!bool maybe`.
        return None, origin, (origin.issue("", f"is not valid YAML: {error}"),)


def _walk(
    node: yaml.Node, pointer: str, lines: dict[str, int], seen: set[int], first_line: int
) -> Iterator[tuple[str, str]]:
    """Note the line of every part; yield pointer and complaint for whatever isn't plain data, written once."""
    lines[pointer] = first_line + node.start_mark.line
    if id(node) in seen:
        yield pointer, "aliases are not allowed: write it out"
        return
    if pointer.count("/") > DEPTH_LIMIT:
        yield pointer, f"is nested deeper than {DEPTH_LIMIT} levels"
        return
    seen.add(id(node))
    if node.tag == "tag:yaml.org,2002:timestamp":
        yield pointer, "would be read as a date: put it in quotes"
    elif node.tag not in _PLAIN:
        yield pointer, f"the tag {node.tag} is not allowed"
    if isinstance(node, yaml.SequenceNode):
        for i, part in enumerate(node.value):
            yield from _walk(part, f"{pointer}/{i}", lines, seen, first_line)
    elif isinstance(node, yaml.MappingNode):
        names: set[str] = set()
        for key, part in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge":
                yield pointer, "has a key that is not plain text"
                continue
            place = f"{pointer}/{escape(key.value)}"
            if key.value in names:
                lines[place] = first_line + key.start_mark.line
                yield place, "occurs twice"
                continue
            names.add(key.value)
            yield from _walk(part, place, lines, seen, first_line)
