"""Item parameters of models with more categories than right and wrong

Every parameter so far is dichotomous. On the way back a scored item keeps its a, b, c, d, by which it is chosen anyway.

Revision ID: 0010
Revises: 0009
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql")
ADDED = "ck_item_parameter_categories_of_model"


def upgrade() -> None:
    with op.batch_alter_table("item_parameter") as table:
        table.add_column(sa.Column("model", sa.String(40), nullable=False, server_default="dichotomous"))
        table.add_column(sa.Column("categories", JSON, nullable=True))
        table.create_check_constraint(op.f(ADDED), "(model = 'dichotomous') = (categories IS NULL)")


def downgrade() -> None:
    with op.batch_alter_table("item_parameter") as table:
        table.drop_constraint(op.f(ADDED))
        table.drop_column("categories")
        table.drop_column("model")
