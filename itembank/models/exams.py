"""Exams and their versioned blueprints."""

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

from itembank.models._columns import UUID, datetime, moment, primary_key, prose, public_id, reference


class Exam(SQLModel, table=True):
    """`bank_revision` grows with every change that could alter what is served; a pool says which it was made from."""

    __table_args__ = (
        sa.UniqueConstraint("tenant_id", "slug"),
        sa.CheckConstraint("prior_sd > 0", name="prior_sd_positive"),
        sa.CheckConstraint("scale_sd > 0", name="scale_sd_positive"),
        sa.CheckConstraint("scale_minimum < scale_maximum", name="scale_ordered"),
    )

    id: int = primary_key()
    uuid: UUID = public_id()
    tenant_id: int = reference("tenant.id", index=False)
    slug: str = Field(max_length=80)
    title: str = Field(max_length=300)
    description: str = prose(default="")
    scale_mean: float = 500.0
    scale_sd: float = 100.0
    scale_minimum: float = 200.0
    scale_maximum: float = 800.0
    cut_score: float = 0.0
    prior_mean: float = 0.0
    prior_sd: float = 1.0
    revision: int = 1
    bank_revision: int = 1
    created_at: datetime = moment()
    updated_at: datetime = moment()


class Objective(SQLModel, table=True):
    """An objective's identity, the same through all versions of the blueprint."""

    __table_args__ = (sa.UniqueConstraint("exam_id", "code"),)

    id: int = primary_key()
    uuid: UUID = public_id()
    exam_id: int = reference("exam.id", index=False)
    code: str = Field(max_length=40)


class Blueprint(SQLModel, table=True):
    """One version of an exam's content outline; the highest number is the current one."""

    __table_args__ = (sa.UniqueConstraint("exam_id", "number"),)

    id: int = primary_key()
    uuid: UUID = public_id()
    exam_id: int = reference("exam.id", index=False)
    number: int
    created_at: datetime = moment()


class BlueprintNode(SQLModel, table=True):
    """An objective's place, title and weight in one version of the blueprint; a domain has no parent."""

    __tablename__ = "blueprint_node"
    __table_args__ = (
        sa.UniqueConstraint("blueprint_id", "objective_id"),
        sa.CheckConstraint("weight >= 0 AND weight <= 1", name="weight_is_a_share"),
    )

    id: int = primary_key()
    blueprint_id: int = reference("blueprint.id", index=False)
    objective_id: int = reference("objective.id")
    parent_id: int | None = reference("objective.id", default=None, nullable=True)
    title: str = Field(max_length=500)
    weight: float
    position: int
