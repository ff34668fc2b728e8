"""Parameter releases and pools

Revision ID: 0004
Revises: 0003
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
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
        "pool_item",
        sa.Column("pool_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("item_version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["item_version_id"], ["item_version.id"], name=op.f("fk_pool_item_item_version_id")),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_pool_item_pool_id")),
        sa.PrimaryKeyConstraint("pool_id", "item_version_id", name=op.f("pk_pool_item")),
    )
    op.create_index(op.f("ix_pool_item_item_version_id"), "pool_item", ["item_version_id"], unique=False)


def downgrade() -> None:
    op.drop_index(op.f("ix_pool_item_item_version_id"), table_name="pool_item")
    op.drop_table("pool_item")
    op.drop_index(op.f("ix_item_parameter_item_version_id"), table_name="item_parameter")
    op.drop_table("item_parameter")
    op.drop_index(op.f("ix_release_activation_release_id"), table_name="release_activation")
    op.drop_index(op.f("ix_release_activation_exam_id"), table_name="release_activation")
    op.drop_table("release_activation")
    op.drop_index(op.f("ix_pool_release_id"), table_name="pool")
    op.drop_index(op.f("ix_pool_blueprint_id"), table_name="pool")
    op.drop_table("pool")
    op.drop_table("parameter_release")
