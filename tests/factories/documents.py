"""Bodies as authors send them over HTTP."""

from typing import Any

EXAM = {"slug": "exam", "title": "An exam"}
BLUEPRINT = {
    "domains": [
        {
            "code": "1",
            "title": "All",
            "weight": 1.0,
            "objectives": [
                {"code": "1.1", "title": "This", "weight": 0.5},
                {"code": "1.2", "title": "That", "weight": 0.5},
            ],
        }
    ]
}
ARTICLE = {
    "slug": "page",
    "kind": "common_mistakes",
    "title": "A page",
    "objectives": ["1.1"],
    "introduction": "Beware of *this*.",
    "sections": [{"anchor": "in-short", "heading": "In `short`", "body": "| a |\n|---|\n| 1 |"}],
    "entries": [
        {"anchor": "so", "name": "So", "mistake": "It is.", "explanation": "It is **not**.", "remedy": "Look."}
    ],
}


def item(name: str = "one", **changes: Any) -> dict[str, Any]:
    """A single-choice item whose first option is the key."""
    return {
        "external_id": name,
        "kind": "single_choice",
        "objective": "1.1",
        "stem": f"What is {name}?",
        "options": [
            {"key": f"{name}-{place}", "text": f"Answer {place}", "correct": place == 0, "rationale": f"Why {place}."}
            for place in range(4)
        ],
        "short_explanation": "In short.",
        "full_explanation": "At length.",
        "tags": ["bloom:apply"],
        "angoff": 0.6,
    } | changes
