"""Items, their versions and what belongs to one

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
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
        "item_tag",
        sa.Column("item_version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("tag", sa.String(120), nullable=False),
        sa.ForeignKeyConstraint(["item_version_id"], ["item_version.id"], name=op.f("fk_item_tag_item_version_id")),
        sa.PrimaryKeyConstraint("item_version_id", "tag", name=op.f("pk_item_tag")),
    )
    op.create_index(op.f("ix_item_tag_tag"), "item_tag", ["tag"], unique=False)
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


def downgrade() -> None:
    op.drop_index(op.f("ix_option_uuid"), table_name="option")
    op.drop_index(op.f("ix_option_misconception_id"), table_name="option")
    op.drop_table("option")
    op.drop_index(op.f("ix_item_tag_tag"), table_name="item_tag")
    op.drop_table("item_tag")
    op.drop_index(op.f("ix_item_media_media_id"), table_name="item_media")
    op.drop_table("item_media")
    op.drop_index(op.f("ix_item_version_stage"), table_name="item_version")
    op.drop_index(op.f("ix_item_version_objective_id"), table_name="item_version")
    op.drop_table("item_version")
    op.drop_index(op.f("ix_item_relation_other_item_id"), table_name="item_relation")
    op.drop_table("item_relation")
    op.drop_index(op.f("ix_item_tenant_id"), table_name="item")
    op.drop_table("item")
