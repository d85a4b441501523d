"""Accounts of members by issuer and subject, and sign-ins that can be ended."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward: nobody is known yet. Runs keep their owners, whose accounts take them over when they sign in."""
    op.create_table(
        "members",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("issuer", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("address", sa.String(320), nullable=False, unique=True),
        sa.Column("shown_address", sa.String(320), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "sign_ins",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("account", sa.String(64), nullable=False),
        sa.Column("address", sa.String(320)),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_sign_ins_account", "sign_ins", ["account"])


def downgrade() -> None:
    """Back. What members own goes back to their addresses, by which earlier versions know them."""
    members = sa.table("members", sa.column("id", sa.String), sa.column("shown_address", sa.String))
    for member_id, address in op.get_bind().execute(sa.select(members.c.id, members.c.shown_address)).all():
        for table, name in (("runs", "owner"), ("kept_datasets", "owner"), ("stars", "viewer")):
            owned = sa.table(table, sa.column(name, sa.String))
            op.execute(sa.update(owned).where(owned.c[name] == member_id).values({name: address.lower()}))
    op.drop_table("sign_ins")
    op.drop_table("members")
