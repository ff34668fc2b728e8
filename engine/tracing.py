"""Traces as the outside may see them: items by their public ids in place of the row numbers stored."""

from collections.abc import Mapping, Sequence
from typing import Any

from itembank import calibrations, responses
from itembank.store import Db


def public_traces(db: Db, traces: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same traces, each item version as `{"item": uuid, "version": number}` and the pool by its uuid."""
    versions = {trace["item_version"] for trace in traces}
    for trace in traces:
        versions.update(trace["suspended"], (candidate["item_version"] for candidate in trace["candidates"]))
    found = responses.version_names(db, versions)
    names = {key: {"item": str(uuid), "version": number} for key, (uuid, number) in found.items()}
    pools = {pool: str(calibrations.get_pool(db, pool).uuid) for pool in {trace["pool"] for trace in traces}}
    return [
        {
            **{name: value for name, value in trace.items() if name != "item_version"},
            **names[trace["item_version"]],
            "pool": pools[trace["pool"]],
            "candidates": [
                {**names[candidate["item_version"]], "score": candidate["score"]} for candidate in trace["candidates"]
            ],
            "suspended": [names[version] for version in trace["suspended"]],
        }
        for trace in traces
    ]
