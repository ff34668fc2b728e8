"""The life cycle of a version: which moves there are, and what each one entails."""

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlmodel import col

from itembank import catalog, rules
from itembank.authoring._changes import lock, refuse
from itembank.authoring.items import audit, links_of
from itembank.content import Stage
from itembank.errors import NotFound, StageConflict
from itembank.models import Item, ItemVersion
from itembank.store import Db

LIVE = frozenset({Stage.PRETEST, Stage.OPERATIONAL})  # served
MOVES: dict[Stage, tuple[Stage, ...]] = {
    Stage.INCOMPLETE: (Stage.DRAFT,),
    Stage.DRAFT: (Stage.IN_REVIEW,),
    Stage.IN_REVIEW: (Stage.APPROVED, Stage.CHANGES_REQUESTED),
    Stage.CHANGES_REQUESTED: (Stage.DRAFT,),
    Stage.APPROVED: (Stage.PRETEST, Stage.OPERATIONAL, Stage.CHANGES_REQUESTED),
    Stage.PRETEST: (Stage.OPERATIONAL, Stage.SUSPENDED, Stage.RETIRED),
    Stage.OPERATIONAL: (Stage.SUSPENDED, Stage.RETIRED),
    Stage.SUSPENDED: (Stage.PRETEST, Stage.OPERATIONAL, Stage.RETIRED),
    Stage.RETIRED: (),
}
_SERVING = LIVE | {Stage.SUSPENDED}  # moves into or out of these alter what is served


def transition(
    db: Db, item: Item, to: Stage, *, actor: str, now: datetime, comment: str = "", version: int | None = None
) -> ItemVersion:
    """Move a version of the item to another stage; the one it takes over from becomes retired.

    version : its number; without one, the newest version that has such a move (so an item can be suspended by its id
    while a draft of its next version lies ready)
    """
    lock(db, item)
    all_versions = db.exec(catalog.versions(item.id)).all()
    moving = _chosen(item, all_versions, to, version)
    came_from = moving.stage
    if to not in rules.DRAFTS:
        content = catalog.item_contents(db, [moving.id])[moving.id].as_content()
        links = links_of(db, item.tenant_id, item.exam_id, [content])
        refuse((*rules.problems(content, to), *(links.problems(content) if to in LIVE else ())))
    moving.stage = to
    if to == Stage.SUSPENDED:
        moving.withdrawn_at = now
    elif to in LIVE:
        moving.withdrawn_at = None
    replaced = [other for other in all_versions if _gives_way(other, moving)]
    for other in replaced:
        other.stage = Stage.RETIRED
    item.revision += 1
    item.updated_at = now
    db.add_all([item, moving, *replaced])
    db.flush()
    if came_from in _SERVING or to in _SERVING:
        catalog.grow_bank_revision(db, item.exam_id)
    detail = {"version": moving.number, "from": came_from, "to": to, "comment": comment}
    audit(db, item, "item.transition", actor, now, **detail, retired=[other.number for other in replaced])
    return moving


def _chosen(item: Item, versions: Sequence[ItemVersion], to: Stage, number: int | None) -> ItemVersion:
    """`versions` : newest first"""
    candidates = versions if number is None else [version for version in versions if version.number == number]
    if not candidates:
        raise NotFound("version of the item", number)
    for version in candidates:
        if to in MOVES[version.stage]:
            return version
    stage = candidates[0].stage
    raise StageConflict(item.uuid, stage, to, MOVES[stage])


def _gives_way(other: ItemVersion, moved: ItemVersion) -> bool:
    """Whether a version of the same item ends because another one has gone live."""
    if other is moved or moved.stage not in LIVE:
        return False
    if moved.stage == Stage.OPERATIONAL and other.stage == Stage.OPERATIONAL:
        return True
    ends = _SERVING if moved.stage == Stage.OPERATIONAL else {Stage.PRETEST}
    return other.number < moved.number and other.stage in ends


def retire_older(db: Db, item_ids: Sequence[int]) -> None:
    """The same for many items whose newest versions have gone live: end what they take over from."""
    newest = sa.select(col(Item.version)).where(col(Item.id) == col(ItemVersion.item_id)).scalar_subquery()
    for start in range(0, len(item_ids), catalog.IDS_AT_ONCE):
        db.execute(
            sa.update(ItemVersion)
            .where(col(ItemVersion.item_id).in_(item_ids[start : start + catalog.IDS_AT_ONCE]))
            .where(col(ItemVersion.stage).in_(_SERVING), col(ItemVersion.number) < newest)
            .values(stage=Stage.RETIRED)
            .execution_options(synchronize_session=False)
        )
