"""An item as its author reads it: the JSON of the API and of the `items` data set."""

from datetime import datetime
from typing import Any

from itembank.content import VersionContent
from itembank.formats.base import utc_text


def document(content: VersionContent, *, exam: str, live_version: int | None, updated_at: datetime) -> dict[str, Any]:
    """Plain JSON data.

    exam : slug;  live_version : number of the version that is served, if any
    """
    return {
        "id": str(content.item_uuid),
        "external_id": content.external_id,
        "exam": exam,
        "stage": content.stage.value,
        "version": content.number,
        "live_version": live_version,
        "kind": content.kind.value,
        "objective": content.objective,
        "stem": content.stem,
        "options": [
            {
                "id": str(option.uuid),
                "key": option.key,
                "text": option.text,
                "correct": option.is_key,
                "rationale": option.rationale,
                "misconception": option.misconception.code if option.misconception else None,
            }
            for option in content.options
        ],
        "short_explanation": content.short_explanation,
        "full_explanation": content.full_explanation,
        "tags": list(content.tags),
        "angoff": content.angoff,
        "shuffle": content.shuffle,
        "media": [
            {"id": str(use.uuid), "role": use.role.value, "alt": use.alt, "description": use.description}
            for use in content.media
        ],
        "references": [{"citation": reference.citation, "url": reference.url} for reference in content.references],
        "reading": [{"article": link.article, "anchor": link.anchor} for link in content.reading],
        "author": content.author,
        "created_at": utc_text(content.created_at),
        "updated_at": utc_text(updated_at),
    }
