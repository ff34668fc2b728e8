"""Forms: what each promises, and every answer and change while one is open

Revision ID: 0008
Revises: 0007
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql")
INDEX = "ix_form_answer_session_id_idempotency_key"
HAS_KEY = sa.text("idempotency_key IS NOT NULL")


def upgrade() -> None:
    with op.batch_alter_table("session") as table:
        table.add_column(sa.Column("form", JSON, nullable=True))
    op.create_table(
        "form_answer",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("session_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("selected", JSON, nullable=True),
        sa.Column("flagged", sa.Boolean(), nullable=False),
        sa.Column("response_time_ms", sa.Integer(), nullable=True),
        sa.Column("idempotency_key", sa.String(255), nullable=True),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"], name=op.f("fk_form_answer_session_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_form_answer")),
        sa.UniqueConstraint(
            "session_id", "position", "revision", name=op.f("uq_form_answer_session_id_position_revision")
        ),
    )
    where = {"postgresql_where": HAS_KEY, "sqlite_where": HAS_KEY}
    op.create_index(op.f(INDEX), "form_answer", ["session_id", "idempotency_key"], unique=True, **where)
    if op.get_context().dialect.name == "postgresql":
        op.execute(
            "CREATE TRIGGER form_answer_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON form_answer "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )


def downgrade() -> None:
    where = {"postgresql_where": HAS_KEY, "sqlite_where": HAS_KEY}
    op.drop_index(op.f(INDEX), table_name="form_answer", **where)
    op.drop_table("form_answer")
    with op.batch_alter_table("session") as table:
        table.drop_column("form")
