"""Jobs and the files they make

Revision ID: 0009
Revises: 0008
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "job",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("uuid", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("exam_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("arguments", _json(), nullable=False),
        sa.Column("status", sa.String(40), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("progress", sa.Float(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("claim", sa.Uuid(), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("result", _json(), nullable=True),
        sa.CheckConstraint("0 <= progress AND progress <= 1", name=op.f("ck_job_progress_is_a_share")),
        sa.ForeignKeyConstraint(["exam_id"], ["exam.id"], name=op.f("fk_job_exam_id")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("fk_job_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
        sa.UniqueConstraint("uuid", name=op.f("uq_job_uuid")),
    )
    op.create_index(op.f("ix_job_exam_id"), "job", ["exam_id"], unique=False)
    op.create_index(op.f("ix_job_status_due_at"), "job", ["status", "due_at"], unique=False)
    op.create_index(op.f("ix_job_tenant_id"), "job", ["tenant_id"], unique=False)
    op.create_table(
        "job_file",
        sa.Column("job_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_job_file_job_id")),
        sa.PrimaryKeyConstraint("job_id", "name", name=op.f("pk_job_file")),
    )


def _json() -> sa.JSON:
    on_postgresql = postgresql.JSONB(none_as_null=True, astext_type=sa.Text())
    return sa.JSON(none_as_null=True).with_variant(on_postgresql, "postgresql")


def downgrade() -> None:
    op.drop_table("job_file")
    op.drop_index(op.f("ix_job_tenant_id"), table_name="job")
    op.drop_index(op.f("ix_job_status_due_at"), table_name="job")
    op.drop_index(op.f("ix_job_exam_id"), table_name="job")
    op.drop_table("job")
