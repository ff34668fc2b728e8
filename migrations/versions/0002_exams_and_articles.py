"""Exams with blueprints, articles, misconceptions and media

Revision ID: 0002
Revises: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
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


def downgrade() -> None:
    op.drop_table("mistake_entry")
    op.drop_table("article_section")
    op.drop_index(op.f("ix_article_objective_objective_id"), table_name="article_objective")
    op.drop_table("article_objective")
    op.drop_index(op.f("ix_misconception_objective_id"), table_name="misconception")
    op.drop_index(op.f("ix_misconception_article_id"), table_name="misconception")
    op.drop_table("misconception")
    op.drop_index(op.f("ix_blueprint_node_parent_id"), table_name="blueprint_node")
    op.drop_index(op.f("ix_blueprint_node_objective_id"), table_name="blueprint_node")
    op.drop_table("blueprint_node")
    op.drop_table("article_version")
    op.drop_table("objective")
    op.drop_table("blueprint")
    op.drop_index(op.f("ix_article_tenant_id"), table_name="article")
    op.drop_table("article")
    op.drop_table("media")
    op.drop_table("exam")
