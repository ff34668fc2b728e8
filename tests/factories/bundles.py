"""Bundles for tests: a small whole one, and ways to break it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

Documents = dict[str, Any]  # file name → document, or text as it stands

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9" fill="url(#g)"/></svg>'


def documents() -> Documents:
    """A bundle with two items, two articles, a misconception and an image."""
    return {
        "exam.yaml": {
            "slug": "small",
            "title": "Small",
            "scale": {"mean": 500, "sd": 100, "minimum": 200, "maximum": 800},
            "prior": {"mean": 0, "sd": 1},
            "blueprint": [
                {
                    "code": "1",
                    "title": "All",
                    "weight": 1,
                    "objectives": [
                        {"code": "1.1", "title": "This", "weight": 0.5},
                        {"code": "1.2", "title": "That", "weight": 0.5},
                    ],
                }
            ],
        },
        "misconceptions/all.yaml": [
            {"code": "wrong", "objective": "1.1", "statement": "It is so.", "article": "mistakes", "entry": "so"}
        ],
        "articles/mistakes.md": article(
            {
                "slug": "mistakes",
                "kind": "common_mistakes",
                "title": "Mistakes",
                "objectives": ["1.1"],
                "entries": [
                    {"anchor": "so", "name": "So", "mistake": "It is.", "explanation": "It isn't.", "remedy": "Look."}
                ],
            },
            "Beware.\n",
        ),
        "articles/lesson.md": article(
            {"slug": "lesson", "kind": "lesson", "title": "Lesson", "objectives": ["1"]},
            "Hello.\n\n## First {#first}\n\nText.\n",
        ),
        "items/first.yaml": [item("one"), item("two", enemies=["one"])],
        "media/x.svg": SVG,
    }


def item(name: str, **changes: Any) -> dict[str, Any]:
    return {
        "id": name,
        "kind": "single_choice",
        "objective": "1.1",
        "tags": ["bloom:apply"],
        "angoff": 0.6,
        "stem": f"What is {name}?",
        "options": [
            {"id": "right", "text": "This", "correct": True, "rationale": "It is."},
            {"id": "wrong", "text": "That", "rationale": "It is not.", "misconception": "wrong"},
            {"id": "other", "text": "Other", "rationale": "Nor is it."},
        ],
        "short_explanation": "Short.",
        "full_explanation": "Full.",
        "media": [{"file": "media/x.svg", "role": "explanation", "alt": "a line", "description": "a straight line"}],
        "references": [{"citation": "A book", "url": "https://example.org"}],
        "read": [{"article": "lesson", "anchor": "first"}],
    } | changes


def article(front: dict[str, Any], body: str) -> str:
    return f"---\n{yaml.safe_dump(front, sort_keys=False)}---\n{body}"


def write(folder: Path, files: Documents | None = None) -> Path:
    """Write a bundle; documents become YAML, text stays as it is."""
    for name, content in (documents() if files is None else files).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False))
    return folder


def broken(folder: Path, change: Callable[[Documents], object]) -> Path:
    """Write the bundle after `change` did something to its documents."""
    files = documents()
    change(files)
    return write(folder, files)
