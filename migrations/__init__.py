"""Alembic revisions. They import nothing of ours, so that an old one always runs as it was written."""
