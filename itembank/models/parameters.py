"""Parameter releases, and the pools made from them. All of it is immutable once written."""

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

from itembank.content import ParameterModel, ParameterOrigin
from itembank.models._columns import UUID, datetime, moment, primary_key, public_id, reference
from itembank.store import EnumText, Json


class ParameterRelease(SQLModel, table=True):
    __tablename__ = "parameter_release"
    __table_args__ = (sa.UniqueConstraint("exam_id", "number"),)

    id: int = primary_key()
    uuid: UUID = public_id()
    exam_id: int = reference("exam.id", index=False)
    number: int
    note: str = Field(max_length=500, default="")
    created_at: datetime = moment()


class ReleaseActivation(SQLModel, table=True):
    """Which release is in force: the exam's last row. Going back is one more row."""

    __tablename__ = "release_activation"

    id: int = primary_key()
    exam_id: int = reference("exam.id")
    release_id: int = reference("parameter_release.id")
    actor: str = Field(max_length=200)
    at: datetime = moment()


class ItemParameter(SQLModel, table=True):
    """One version's parameters in one release, on the logistic metric (D = 1); `origin` says where they come from.

    a, b, c, d : of right and wrong, by which items are chosen whatever their model
    categories : None for a dichotomous item; steps (gpcm) or thresholds (grm) in logits, whose discrimination is `a`;
    option uuid → [slope, intercept] (nominal)
    """

    __tablename__ = "item_parameter"
    __table_args__ = (
        sa.CheckConstraint("0 <= c AND c < d AND d <= 1", name="asymptotes_ordered"),
        sa.CheckConstraint("(model = 'dichotomous') = (categories IS NULL)", name="categories_of_model"),
    )

    release_id: int = reference("parameter_release.id", index=False, primary_key=True)
    item_version_id: int = reference("item_version.id", primary_key=True)
    origin: ParameterOrigin = Field(sa_type=EnumText(ParameterOrigin))
    a: float
    b: float
    c: float = 0.0
    d: float = 1.0
    model: ParameterModel = Field(
        sa_type=EnumText(ParameterModel),
        default=ParameterModel.DICHOTOMOUS,
        sa_column_kwargs={"server_default": ParameterModel.DICHOTOMOUS.value},
    )
    categories: list[float] | dict[str, list[float]] | None = Field(sa_type=Json, default=None)


class Pool(SQLModel, table=True):
    """The servable items of an exam at one bank revision.

    enemies : pairs of item version ids that may not meet in one session;  siblings : that ask for the same in two ways
    """

    __table_args__ = (sa.UniqueConstraint("exam_id", "bank_revision"),)

    id: int = primary_key()
    uuid: UUID = public_id()
    exam_id: int = reference("exam.id", index=False)
    bank_revision: int
    release_id: int = reference("parameter_release.id")
    blueprint_id: int = reference("blueprint.id")
    enemies: list[list[int]] = Field(sa_type=Json, default_factory=list)
    siblings: list[list[int]] = Field(sa_type=Json, default_factory=list, sa_column_kwargs={"server_default": "[]"})
    created_at: datetime = moment()


class PoolItem(SQLModel, table=True):
    """pretest : served unscored, since it is not calibrated yet"""

    __tablename__ = "pool_item"

    pool_id: int = reference("pool.id", index=False, primary_key=True)
    item_version_id: int = reference("item_version.id", primary_key=True)
    pretest: bool = Field(default=False, sa_column_kwargs={"server_default": sa.false()})
