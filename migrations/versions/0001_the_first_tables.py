"""The first tables

Revision ID: 0001
Revises:
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


APPEND_ONLY = ("response", "score")


def upgrade() -> None:
    op.create_table(
        "tenant",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("uuid", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tenant")),
        sa.UniqueConstraint("name", name=op.f("uq_tenant_name")),
        sa.UniqueConstraint("uuid", name=op.f("uq_tenant_uuid")),
    )
    op.create_table(
        "api_client",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("uuid", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("prefix", sa.String(16), nullable=False),
        sa.Column("secret_hash", sa.String(64), nullable=False),
        sa.Column(
            "scopes",
            sa.JSON(none_as_null=True).with_variant(
                postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql"
            ),
            nullable=False,
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("fk_api_client_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_client")),
        sa.UniqueConstraint("prefix", name=op.f("uq_api_client_prefix")),
        sa.UniqueConstraint("uuid", name=op.f("uq_api_client_uuid")),
    )
    op.create_index(op.f("ix_api_client_tenant_id"), "api_client", ["tenant_id"], unique=False)
    op.create_table(
        "audit_entry",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("tenant_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("actor", sa.String(200), nullable=False),
        sa.Column("action", sa.String(60), nullable=False),
        sa.Column("entity", sa.String(40), nullable=False),
        sa.Column("entity_uuid", sa.Uuid(), nullable=False),
        sa.Column(
            "detail",
            sa.JSON(none_as_null=True).with_variant(
                postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql"
            ),
            nullable=False,
        ),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("fk_audit_entry_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entry")),
    )
    op.create_index(
        op.f("ix_audit_entry_tenant_id_entity_entity_uuid"),
        "audit_entry",
        ["tenant_id", "entity", "entity_uuid"],
        unique=False,
    )
    op.create_table(
        "exam",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("uuid", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("slug", sa.String(80), nullable=False),
        sa.Column("title", sa.String(300), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("scale_mean", sa.Float(), nullable=False),
        sa.Column("scale_sd", sa.Float(), nullable=False),
        sa.Column("scale_minimum", sa.Float(), nullable=False),
        sa.Column("scale_maximum", sa.Float(), nullable=False),
        sa.Column("cut_score", sa.Float(), nullable=False),
        sa.Column("prior_mean", sa.Float(), nullable=False),
        sa.Column("prior_sd", sa.Float(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("bank_revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("prior_sd > 0", name=op.f("ck_exam_prior_sd_positive")),
        sa.CheckConstraint("scale_minimum < scale_maximum", name=op.f("ck_exam_scale_ordered")),
        sa.CheckConstraint("scale_sd > 0", name=op.f("ck_exam_scale_sd_positive")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("fk_exam_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_exam")),
        sa.UniqueConstraint("tenant_id", "slug", name=op.f("uq_exam_tenant_id_slug")),
        sa.UniqueConstraint("uuid", name=op.f("uq_exam_uuid")),
    )
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
        "media",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("uuid", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("media_type", sa.String(60), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("fk_media_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_media")),
        sa.UniqueConstraint("tenant_id", "sha256", name=op.f("uq_media_tenant_id_sha256")),
        sa.UniqueConstraint("uuid", name=op.f("uq_media_uuid")),
    )
    op.create_table(
        "article",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("uuid", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("exam_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("slug", sa.String(120), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["exam_id"], ["exam.id"], name=op.f("fk_article_exam_id")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("fk_article_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_article")),
        sa.UniqueConstraint("exam_id", "slug", name=op.f("uq_article_exam_id_slug")),
        sa.UniqueConstraint("uuid", name=op.f("uq_article_uuid")),
    )
    op.create_index(op.f("ix_article_tenant_id"), "article", ["tenant_id"], unique=False)
    op.create_table(
        "blueprint",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("uuid", sa.Uuid(), nullable=False),
        sa.Column("exam_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["exam_id"], ["exam.id"], name=op.f("fk_blueprint_exam_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_blueprint")),
        sa.UniqueConstraint("exam_id", "number", name=op.f("uq_blueprint_exam_id_number")),
        sa.UniqueConstraint("uuid", name=op.f("uq_blueprint_uuid")),
    )
    op.create_table(
        "export",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("uuid", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("exam_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("dataset", sa.String(40), nullable=False),
        sa.Column("format", sa.String(20), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_row", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["exam_id"], ["exam.id"], name=op.f("fk_export_exam_id")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("fk_export_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_export")),
        sa.UniqueConstraint("uuid", name=op.f("uq_export_uuid")),
    )
    op.create_index(op.f("ix_export_exam_id"), "export", ["exam_id"], unique=False)
    op.create_index(op.f("ix_export_tenant_id"), "export", ["tenant_id"], unique=False)
    op.create_table(
        "idempotency_record",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("client_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key", sa.String(255), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column(
            "headers",
            sa.JSON(none_as_null=True).with_variant(
                postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql"
            ),
            nullable=False,
        ),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("learner_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["client_id"], ["api_client.id"], name=op.f("fk_idempotency_record_client_id")),
        sa.ForeignKeyConstraint(["learner_id"], ["learner.id"], name=op.f("fk_idempotency_record_learner_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_idempotency_record")),
        sa.UniqueConstraint("client_id", "key", name=op.f("uq_idempotency_record_client_id_key")),
    )
    op.create_index(op.f("ix_idempotency_record_created_at"), "idempotency_record", ["created_at"], unique=False)
    op.create_index(op.f("ix_idempotency_record_learner_id"), "idempotency_record", ["learner_id"], unique=False)
    op.create_table(
        "item",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("uuid", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("exam_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("external_id", sa.String(200), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["exam_id"], ["exam.id"], name=op.f("fk_item_exam_id")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("fk_item_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_item")),
        sa.UniqueConstraint("exam_id", "external_id", name=op.f("uq_item_exam_id_external_id")),
        sa.UniqueConstraint("uuid", name=op.f("uq_item_uuid")),
    )
    op.create_index(op.f("ix_item_tenant_id"), "item", ["tenant_id"], unique=False)
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
        "objective",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("uuid", sa.Uuid(), nullable=False),
        sa.Column("exam_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("code", sa.String(40), nullable=False),
        sa.ForeignKeyConstraint(["exam_id"], ["exam.id"], name=op.f("fk_objective_exam_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_objective")),
        sa.UniqueConstraint("exam_id", "code", name=op.f("uq_objective_exam_id_code")),
        sa.UniqueConstraint("uuid", name=op.f("uq_objective_uuid")),
    )
    op.create_table(
        "parameter_release",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("uuid", sa.Uuid(), nullable=False),
        sa.Column("exam_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("note", sa.String(500), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["exam_id"], ["exam.id"], name=op.f("fk_parameter_release_exam_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_parameter_release")),
        sa.UniqueConstraint("exam_id", "number", name=op.f("uq_parameter_release_exam_id_number")),
        sa.UniqueConstraint("uuid", name=op.f("uq_parameter_release_uuid")),
    )
    op.create_table(
        "article_version",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("article_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(500), nullable=False),
        sa.Column("introduction", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.String(64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["article_id"], ["article.id"], name=op.f("fk_article_version_article_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_article_version")),
        sa.UniqueConstraint("article_id", "number", name=op.f("uq_article_version_article_id_number")),
    )
    op.create_table(
        "blueprint_node",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("blueprint_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("objective_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("parent_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("title", sa.String(500), nullable=False),
        sa.Column("weight", sa.Float(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.CheckConstraint("weight >= 0 AND weight <= 1", name=op.f("ck_blueprint_node_weight_is_a_share")),
        sa.ForeignKeyConstraint(["blueprint_id"], ["blueprint.id"], name=op.f("fk_blueprint_node_blueprint_id")),
        sa.ForeignKeyConstraint(["objective_id"], ["objective.id"], name=op.f("fk_blueprint_node_objective_id")),
        sa.ForeignKeyConstraint(["parent_id"], ["objective.id"], name=op.f("fk_blueprint_node_parent_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_blueprint_node")),
        sa.UniqueConstraint("blueprint_id", "objective_id", name=op.f("uq_blueprint_node_blueprint_id_objective_id")),
    )
    op.create_index(op.f("ix_blueprint_node_objective_id"), "blueprint_node", ["objective_id"], unique=False)
    op.create_index(op.f("ix_blueprint_node_parent_id"), "blueprint_node", ["parent_id"], unique=False)
    op.create_table(
        "item_relation",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("item_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("other_item_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("item_id <> other_item_id", name=op.f("ck_item_relation_two_items")),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_item_relation_item_id")),
        sa.ForeignKeyConstraint(["other_item_id"], ["item.id"], name=op.f("fk_item_relation_other_item_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_item_relation")),
        sa.UniqueConstraint(
            "item_id", "other_item_id", "kind", name=op.f("uq_item_relation_item_id_other_item_id_kind")
        ),
    )
    op.create_index(op.f("ix_item_relation_other_item_id"), "item_relation", ["other_item_id"], unique=False)
    op.create_table(
        "item_version",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("uuid", sa.Uuid(), nullable=False),
        sa.Column("item_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("stage", sa.String(40), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("objective_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("stem", sa.Text(), nullable=False),
        sa.Column("short_explanation", sa.Text(), nullable=False),
        sa.Column("full_explanation", sa.Text(), nullable=False),
        sa.Column("angoff", sa.Float(), nullable=True),
        sa.Column("shuffle", sa.Boolean(), nullable=False),
        sa.Column(
            "references",
            sa.JSON(none_as_null=True).with_variant(
                postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql"
            ),
            nullable=False,
        ),
        sa.Column(
            "reading",
            sa.JSON(none_as_null=True).with_variant(
                postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql"
            ),
            nullable=False,
        ),
        sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("content_hash", sa.String(64), nullable=False),
        sa.Column("author", sa.String(200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "angoff IS NULL OR (angoff > 0 AND angoff < 1)", name=op.f("ck_item_version_angoff_is_a_share")
        ),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_item_version_item_id")),
        sa.ForeignKeyConstraint(["objective_id"], ["objective.id"], name=op.f("fk_item_version_objective_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_item_version")),
        sa.UniqueConstraint("item_id", "number", name=op.f("uq_item_version_item_id_number")),
        sa.UniqueConstraint("uuid", name=op.f("uq_item_version_uuid")),
    )
    op.create_index(op.f("ix_item_version_objective_id"), "item_version", ["objective_id"], unique=False)
    op.create_index(op.f("ix_item_version_stage"), "item_version", ["stage"], unique=False)
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
        "misconception",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("uuid", sa.Uuid(), nullable=False),
        sa.Column("exam_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("code", sa.String(120), nullable=False),
        sa.Column("objective_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("statement", sa.Text(), nullable=False),
        sa.Column("article_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("anchor", sa.String(120), nullable=True),
        sa.ForeignKeyConstraint(["article_id"], ["article.id"], name=op.f("fk_misconception_article_id")),
        sa.ForeignKeyConstraint(["exam_id"], ["exam.id"], name=op.f("fk_misconception_exam_id")),
        sa.ForeignKeyConstraint(["objective_id"], ["objective.id"], name=op.f("fk_misconception_objective_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_misconception")),
        sa.UniqueConstraint("exam_id", "code", name=op.f("uq_misconception_exam_id_code")),
        sa.UniqueConstraint("uuid", name=op.f("uq_misconception_uuid")),
    )
    op.create_index(op.f("ix_misconception_article_id"), "misconception", ["article_id"], unique=False)
    op.create_index(op.f("ix_misconception_objective_id"), "misconception", ["objective_id"], unique=False)
    op.create_table(
        "pool",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("uuid", sa.Uuid(), nullable=False),
        sa.Column("exam_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("bank_revision", sa.Integer(), nullable=False),
        sa.Column("release_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("blueprint_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "enemies",
            sa.JSON(none_as_null=True).with_variant(
                postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql"
            ),
            nullable=False,
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["blueprint_id"], ["blueprint.id"], name=op.f("fk_pool_blueprint_id")),
        sa.ForeignKeyConstraint(["exam_id"], ["exam.id"], name=op.f("fk_pool_exam_id")),
        sa.ForeignKeyConstraint(["release_id"], ["parameter_release.id"], name=op.f("fk_pool_release_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pool")),
        sa.UniqueConstraint("exam_id", "bank_revision", name=op.f("uq_pool_exam_id_bank_revision")),
        sa.UniqueConstraint("uuid", name=op.f("uq_pool_uuid")),
    )
    op.create_index(op.f("ix_pool_blueprint_id"), "pool", ["blueprint_id"], unique=False)
    op.create_index(op.f("ix_pool_release_id"), "pool", ["release_id"], unique=False)
    op.create_table(
        "release_activation",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("exam_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("release_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("actor", sa.String(200), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["exam_id"], ["exam.id"], name=op.f("fk_release_activation_exam_id")),
        sa.ForeignKeyConstraint(
            ["release_id"], ["parameter_release.id"], name=op.f("fk_release_activation_release_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_release_activation")),
    )
    op.create_index(op.f("ix_release_activation_exam_id"), "release_activation", ["exam_id"], unique=False)
    op.create_index(op.f("ix_release_activation_release_id"), "release_activation", ["release_id"], unique=False)
    op.create_table(
        "article_objective",
        sa.Column("article_version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("objective_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["article_version_id"], ["article_version.id"], name=op.f("fk_article_objective_article_version_id")
        ),
        sa.ForeignKeyConstraint(["objective_id"], ["objective.id"], name=op.f("fk_article_objective_objective_id")),
        sa.PrimaryKeyConstraint("article_version_id", "objective_id", name=op.f("pk_article_objective")),
    )
    op.create_index(op.f("ix_article_objective_objective_id"), "article_objective", ["objective_id"], unique=False)
    op.create_table(
        "article_section",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("article_version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("anchor", sa.String(120), nullable=False),
        sa.Column("heading", sa.String(500), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["article_version_id"], ["article_version.id"], name=op.f("fk_article_section_article_version_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_article_section")),
        sa.UniqueConstraint("article_version_id", "anchor", name=op.f("uq_article_section_article_version_id_anchor")),
    )
    op.create_table(
        "item_media",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("item_version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("media_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(40), nullable=False),
        sa.Column("alt", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["item_version_id"], ["item_version.id"], name=op.f("fk_item_media_item_version_id")),
        sa.ForeignKeyConstraint(["media_id"], ["media.id"], name=op.f("fk_item_media_media_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_item_media")),
        sa.UniqueConstraint("item_version_id", "position", name=op.f("uq_item_media_item_version_id_position")),
    )
    op.create_index(op.f("ix_item_media_media_id"), "item_media", ["media_id"], unique=False)
    op.create_table(
        "item_parameter",
        sa.Column("release_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("item_version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("origin", sa.String(40), nullable=False),
        sa.Column("a", sa.Float(), nullable=False),
        sa.Column("b", sa.Float(), nullable=False),
        sa.Column("c", sa.Float(), nullable=False),
        sa.Column("d", sa.Float(), nullable=False),
        sa.CheckConstraint("0 <= c AND c < d AND d <= 1", name=op.f("ck_item_parameter_asymptotes_ordered")),
        sa.ForeignKeyConstraint(
            ["item_version_id"], ["item_version.id"], name=op.f("fk_item_parameter_item_version_id")
        ),
        sa.ForeignKeyConstraint(["release_id"], ["parameter_release.id"], name=op.f("fk_item_parameter_release_id")),
        sa.PrimaryKeyConstraint("release_id", "item_version_id", name=op.f("pk_item_parameter")),
    )
    op.create_index(op.f("ix_item_parameter_item_version_id"), "item_parameter", ["item_version_id"], unique=False)
    op.create_table(
        "item_tag",
        sa.Column("item_version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("tag", sa.String(120), nullable=False),
        sa.ForeignKeyConstraint(["item_version_id"], ["item_version.id"], name=op.f("fk_item_tag_item_version_id")),
        sa.PrimaryKeyConstraint("item_version_id", "tag", name=op.f("pk_item_tag")),
    )
    op.create_index(op.f("ix_item_tag_tag"), "item_tag", ["tag"], unique=False)
    op.create_table(
        "mistake_entry",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("article_version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("anchor", sa.String(120), nullable=False),
        sa.Column("name", sa.String(500), nullable=False),
        sa.Column("mistake", sa.Text(), nullable=False),
        sa.Column("explanation", sa.Text(), nullable=False),
        sa.Column("remedy", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["article_version_id"], ["article_version.id"], name=op.f("fk_mistake_entry_article_version_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mistake_entry")),
        sa.UniqueConstraint("article_version_id", "anchor", name=op.f("uq_mistake_entry_article_version_id_anchor")),
    )
    op.create_table(
        "option",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("item_version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("uuid", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(120), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("is_key", sa.Boolean(), nullable=False),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.Column("misconception_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.ForeignKeyConstraint(["item_version_id"], ["item_version.id"], name=op.f("fk_option_item_version_id")),
        sa.ForeignKeyConstraint(["misconception_id"], ["misconception.id"], name=op.f("fk_option_misconception_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_option")),
        sa.UniqueConstraint("item_version_id", "position", name=op.f("uq_option_item_version_id_position")),
        sa.UniqueConstraint("item_version_id", "uuid", name=op.f("uq_option_item_version_id_uuid")),
    )
    op.create_index(op.f("ix_option_misconception_id"), "option", ["misconception_id"], unique=False)
    op.create_index(op.f("ix_option_uuid"), "option", ["uuid"], unique=False)
    op.create_table(
        "pool_item",
        sa.Column("pool_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("item_version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["item_version_id"], ["item_version.id"], name=op.f("fk_pool_item_item_version_id")),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_pool_item_pool_id")),
        sa.PrimaryKeyConstraint("pool_id", "item_version_id", name=op.f("pk_pool_item")),
    )
    op.create_index(op.f("ix_pool_item_item_version_id"), "pool_item", ["item_version_id"], unique=False)
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
    op.drop_index(op.f("ix_pool_item_item_version_id"), table_name="pool_item")
    op.drop_table("pool_item")
    op.drop_index(op.f("ix_option_uuid"), table_name="option")
    op.drop_index(op.f("ix_option_misconception_id"), table_name="option")
    op.drop_table("option")
    op.drop_table("mistake_entry")
    op.drop_index(op.f("ix_item_tag_tag"), table_name="item_tag")
    op.drop_table("item_tag")
    op.drop_index(op.f("ix_item_parameter_item_version_id"), table_name="item_parameter")
    op.drop_table("item_parameter")
    op.drop_index(op.f("ix_item_media_media_id"), table_name="item_media")
    op.drop_table("item_media")
    op.drop_table("article_section")
    op.drop_index(op.f("ix_article_objective_objective_id"), table_name="article_objective")
    op.drop_table("article_objective")
    op.drop_index(op.f("ix_release_activation_release_id"), table_name="release_activation")
    op.drop_index(op.f("ix_release_activation_exam_id"), table_name="release_activation")
    op.drop_table("release_activation")
    op.drop_index(op.f("ix_pool_release_id"), table_name="pool")
    op.drop_index(op.f("ix_pool_blueprint_id"), table_name="pool")
    op.drop_table("pool")
    op.drop_index(op.f("ix_misconception_objective_id"), table_name="misconception")
    op.drop_index(op.f("ix_misconception_article_id"), table_name="misconception")
    op.drop_table("misconception")
    op.drop_index(op.f("ix_learner_item_item_id"), table_name="learner_item")
    op.drop_table("learner_item")
    op.drop_index(op.f("ix_item_version_stage"), table_name="item_version")
    op.drop_index(op.f("ix_item_version_objective_id"), table_name="item_version")
    op.drop_table("item_version")
    op.drop_index(op.f("ix_item_relation_other_item_id"), table_name="item_relation")
    op.drop_table("item_relation")
    op.drop_index(op.f("ix_blueprint_node_parent_id"), table_name="blueprint_node")
    op.drop_index(op.f("ix_blueprint_node_objective_id"), table_name="blueprint_node")
    op.drop_table("blueprint_node")
    op.drop_table("article_version")
    op.drop_table("parameter_release")
    op.drop_table("objective")
    op.drop_index(op.f("ix_learner_state_exam_id"), table_name="learner_state")
    op.drop_table("learner_state")
    op.drop_index(op.f("ix_item_tenant_id"), table_name="item")
    op.drop_table("item")
    op.drop_index(op.f("ix_idempotency_record_learner_id"), table_name="idempotency_record")
    op.drop_index(op.f("ix_idempotency_record_created_at"), table_name="idempotency_record")
    op.drop_table("idempotency_record")
    op.drop_index(op.f("ix_export_tenant_id"), table_name="export")
    op.drop_index(op.f("ix_export_exam_id"), table_name="export")
    op.drop_table("export")
    op.drop_table("blueprint")
    op.drop_index(op.f("ix_article_tenant_id"), table_name="article")
    op.drop_table("article")
    op.drop_table("media")
    op.drop_table("learner")
    op.drop_table("exam")
    op.drop_index(op.f("ix_audit_entry_tenant_id_entity_entity_uuid"), table_name="audit_entry")
    op.drop_table("audit_entry")
    op.drop_index(op.f("ix_api_client_tenant_id"), table_name="api_client")
    op.drop_table("api_client")
    op.drop_table("tenant")
