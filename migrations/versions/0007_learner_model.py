"""What the learner model keeps: ability by objective, memory of items, and pools with pretest items and siblings

`learner_state.log_likelihood` gives way to `gaussian`. Nothing is lost: both are made from the log of answers, and a
null says that it has yet to be done. The way back leaves a likelihood of no answers.

Revision ID: 0007
Revises: 0006
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

NODES = 121
JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql")
NO_ROWS = sa.text("'[]'")


def upgrade() -> None:
    with op.batch_alter_table("learner_state") as table:
        table.drop_column("log_likelihood")
        table.add_column(sa.Column("gaussian", sa.LargeBinary(), nullable=True))
        table.add_column(sa.Column("codes", JSON, nullable=False, server_default=NO_ROWS))
        table.add_column(sa.Column("reserved", JSON, nullable=False, server_default=NO_ROWS))
        table.add_column(sa.Column("revision", sa.Integer(), nullable=False, server_default="0"))
    with op.batch_alter_table("learner_item") as table:
        table.add_column(sa.Column("stability", sa.Float(), nullable=True))
        table.add_column(sa.Column("difficulty", sa.Float(), nullable=True))
        table.add_column(sa.Column("due_at", sa.DateTime(timezone=True), nullable=True))
        table.add_column(sa.Column("reviewed_at", sa.DateTime(timezone=True), nullable=True))
        table.add_column(sa.Column("reviews", sa.Integer(), nullable=False, server_default="0"))
        table.add_column(sa.Column("lapses", sa.Integer(), nullable=False, server_default="0"))
    with op.batch_alter_table("session") as table:
        table.add_column(sa.Column("queue", JSON, nullable=False, server_default=NO_ROWS))
    with op.batch_alter_table("pool") as table:
        table.add_column(sa.Column("siblings", JSON, nullable=False, server_default=NO_ROWS))
    with op.batch_alter_table("pool_item") as table:
        table.add_column(sa.Column("pretest", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "item_timing",
        sa.Column("item_version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("median_ms", sa.Float(), nullable=False),
        sa.Column("measured_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["item_version_id"], ["item_version.id"], name=op.f("fk_item_timing_item_version_id")),
        sa.PrimaryKeyConstraint("item_version_id", name=op.f("pk_item_timing")),
    )
    op.create_table(
        "practice_model",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("exam_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("weights", JSON, nullable=False),
        sa.Column("quality", JSON, nullable=False),
        sa.Column("actor", sa.String(200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["exam_id"], ["exam.id"], name=op.f("fk_practice_model_exam_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_practice_model")),
        sa.UniqueConstraint("exam_id", "number", name=op.f("uq_practice_model_exam_id_number")),
    )


def downgrade() -> None:
    op.drop_table("practice_model")
    op.drop_table("item_timing")
    with op.batch_alter_table("pool_item") as table:
        table.drop_column("pretest")
    with op.batch_alter_table("pool") as table:
        table.drop_column("siblings")
    with op.batch_alter_table("session") as table:
        table.drop_column("queue")
    with op.batch_alter_table("learner_item") as table:
        for name in ("stability", "difficulty", "due_at", "reviewed_at", "reviews", "lapses"):
            table.drop_column(name)
    no_answers = (
        "decode(repeat('00', {0}), 'hex')" if op.get_context().dialect.name == "postgresql" else "zeroblob({0})"
    )
    with op.batch_alter_table("learner_state") as table:
        for name in ("gaussian", "codes", "reserved", "revision"):
            table.drop_column(name)
        empty = sa.text("(" + no_answers.format(8 * NODES) + ")")
        table.add_column(sa.Column("log_likelihood", sa.LargeBinary(), nullable=False, server_default=empty))
