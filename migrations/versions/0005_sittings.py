"""Learners, sessions, and the log of responses and scores, which PostgreSQL lets nobody change

Revision ID: 0005
Revises: 0004
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


APPEND_ONLY = ("response", "score")


def upgrade() -> None:
    op.create_table(
        "learner",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("uuid", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("external_id", sa.String(200), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("erased_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("fk_learner_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_learner")),
        sa.UniqueConstraint("tenant_id", "external_id", name=op.f("uq_learner_tenant_id_external_id")),
        sa.UniqueConstraint("uuid", name=op.f("uq_learner_uuid")),
    )
    op.create_table(
        "learner_state",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("learner_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("exam_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("log_likelihood", sa.LargeBinary(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["exam_id"], ["exam.id"], name=op.f("fk_learner_state_exam_id")),
        sa.ForeignKeyConstraint(["learner_id"], ["learner.id"], name=op.f("fk_learner_state_learner_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_learner_state")),
        sa.UniqueConstraint("learner_id", "exam_id", name=op.f("uq_learner_state_learner_id_exam_id")),
    )
    op.create_index(op.f("ix_learner_state_exam_id"), "learner_state", ["exam_id"], unique=False)
    op.create_table(
        "learner_item",
        sa.Column("learner_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("item_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("first_answered_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_answered_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reveals", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_learner_item_item_id")),
        sa.ForeignKeyConstraint(["learner_id"], ["learner.id"], name=op.f("fk_learner_item_learner_id")),
        sa.PrimaryKeyConstraint("learner_id", "item_id", name=op.f("pk_learner_item")),
    )
    op.create_index(op.f("ix_learner_item_item_id"), "learner_item", ["item_id"], unique=False)
    op.create_table(
        "session",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("uuid", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("exam_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("learner_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("pool_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("mode", sa.String(40), nullable=False),
        sa.Column(
            "policy",
            sa.JSON(none_as_null=True).with_variant(
                postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql"
            ),
            nullable=False,
        ),
        sa.Column(
            "objectives",
            sa.JSON(none_as_null=True).with_variant(
                postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql"
            ),
            nullable=False,
        ),
        sa.Column("seed", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("status", sa.String(40), nullable=False),
        sa.Column("stop_reason", sa.String(40), nullable=True),
        sa.Column("start_log_posterior", sa.LargeBinary(), nullable=False),
        sa.Column("log_posterior", sa.LargeBinary(), nullable=False),
        sa.Column("excluded", sa.LargeBinary(), nullable=False),
        sa.Column("resting", sa.LargeBinary(), nullable=False),
        sa.Column(
            "administered",
            sa.JSON(none_as_null=True).with_variant(
                postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql"
            ),
            nullable=False,
        ),
        sa.Column(
            "current",
            sa.JSON(none_as_null=True).with_variant(
                postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql"
            ),
            nullable=True,
        ),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["exam_id"], ["exam.id"], name=op.f("fk_session_exam_id")),
        sa.ForeignKeyConstraint(["learner_id"], ["learner.id"], name=op.f("fk_session_learner_id")),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_session_pool_id")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("fk_session_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_session")),
        sa.UniqueConstraint("uuid", name=op.f("uq_session_uuid")),
        postgresql_with={"toast_tuple_target": 8160},
    )
    op.create_index(op.f("ix_session_exam_id"), "session", ["exam_id"], unique=False)
    op.create_index(op.f("ix_session_learner_id_exam_id"), "session", ["learner_id", "exam_id"], unique=False)
    op.create_index(op.f("ix_session_pool_id"), "session", ["pool_id"], unique=False)
    op.create_index(op.f("ix_session_tenant_id"), "session", ["tenant_id"], unique=False)
    op.create_table(
        "response",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("uuid", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("item_version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "selected",
            sa.JSON(none_as_null=True).with_variant(
                postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql"
            ),
            nullable=False,
        ),
        sa.Column("response_time_ms", sa.Integer(), nullable=True),
        sa.Column("exposure_class", sa.String(40), nullable=False),
        sa.Column("moves_ability", sa.Boolean(), nullable=False),
        sa.Column("theta_before", sa.Float(), nullable=False),
        sa.Column("standard_error_before", sa.Float(), nullable=False),
        sa.Column("theta_after", sa.Float(), nullable=False),
        sa.Column("standard_error_after", sa.Float(), nullable=False),
        sa.Column("stop_reason", sa.String(40), nullable=True),
        sa.Column(
            "trace",
            sa.JSON(none_as_null=True).with_variant(
                postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql"
            ),
            nullable=False,
        ),
        sa.Column("idempotency_key", sa.String(255), nullable=True),
        sa.Column("served_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "response_time_ms IS NULL OR response_time_ms >= 0", name=op.f("ck_response_response_time_not_negative")
        ),
        sa.ForeignKeyConstraint(["item_version_id"], ["item_version.id"], name=op.f("fk_response_item_version_id")),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"], name=op.f("fk_response_session_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_response")),
        sa.UniqueConstraint("session_id", "position", name=op.f("uq_response_session_id_position")),
        sa.UniqueConstraint("uuid", name=op.f("uq_response_uuid")),
    )
    op.create_index(op.f("ix_response_item_version_id"), "response", ["item_version_id"], unique=False)
    op.create_index(
        op.f("ix_response_session_id_idempotency_key"),
        "response",
        ["session_id", "idempotency_key"],
        unique=True,
        postgresql_where=sa.text("idempotency_key IS NOT NULL"),
        sqlite_where=sa.text("idempotency_key IS NOT NULL"),
    )
    op.create_table(
        "score",
        sa.Column("response_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key_version", sa.Integer(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("correct", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["response_id"], ["response.id"], name=op.f("fk_score_response_id")),
        sa.PrimaryKeyConstraint("response_id", "key_version", name=op.f("pk_score")),
    )
    if op.get_context().dialect.name == "postgresql":
        op.execute(
            """
            CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP;
            END $$
            """
        )
        for table in APPEND_ONLY:
            op.execute(
                f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
                "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
            )


def downgrade() -> None:
    if op.get_context().dialect.name == "postgresql":
        for table in APPEND_ONLY:
            op.execute(f"DROP TRIGGER {table}_append_only ON {table}")
        op.execute("DROP FUNCTION refuse_change()")
    op.drop_table("score")
    op.drop_index(
        op.f("ix_response_session_id_idempotency_key"),
        table_name="response",
        postgresql_where=sa.text("idempotency_key IS NOT NULL"),
        sqlite_where=sa.text("idempotency_key IS NOT NULL"),
    )
    op.drop_index(op.f("ix_response_item_version_id"), table_name="response")
    op.drop_table("response")
    op.drop_index(op.f("ix_session_tenant_id"), table_name="session")
    op.drop_index(op.f("ix_session_pool_id"), table_name="session")
    op.drop_index(op.f("ix_session_learner_id_exam_id"), table_name="session")
    op.drop_index(op.f("ix_session_exam_id"), table_name="session")
    op.drop_table("session")
    op.drop_index(op.f("ix_learner_item_item_id"), table_name="learner_item")
    op.drop_table("learner_item")
    op.drop_index(op.f("ix_learner_state_exam_id"), table_name="learner_state")
    op.drop_table("learner_state")
    op.drop_table("learner")
