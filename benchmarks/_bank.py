"""A bank to measure with: made-up items as long as real ones, spread over a blueprint, brought in like any import."""

from datetime import UTC, datetime

import numpy as np
import sqlalchemy as sa

from api.auth import keys, scopes
from itembank import clients, importing
from itembank.content import ExamContent, ItemContent, ItemKind, ObjectiveContent, OptionContent, Stage
from itembank.formats.base import Origin
from itembank.formats.bundle import Bundle, ItemPart, Part
from itembank.store import transaction

EXAM = "benchmark"
DOMAINS, OBJECTIVES = 4, 3  # objectives in each domain
WORDS = [
    "the",
    "model",
    "memory",
    "of",
    "training",
    "batch",
    "and",
    "inference",
    "a",
    "server",
    "with",
    "latency",
    "network",
    "each",
    "gradient",
    "when",
    "layer",
    "cluster",
    "for",
    "throughput",
    "in",
    "weights",
    "accelerator",
    "is",
    "storage",
    "that",
    "precision",
    "between",
    "data",
    "parallel",
    "which",
    "queue",
    "before",
    "token",
]


def make_bank(engine: sa.Engine, items: int, *, seed: int = 20261130) -> str:
    """Fill a migrated database with one exam of so many made-up items; returns an API key with every scope."""
    return import_bank(engine, made_up_bundle(items, np.random.default_rng([seed, items])))


def import_bank(engine: sa.Engine, bundle: Bundle) -> str:
    """Import an exam, its items operational, for a new tenant; returns an API key with every scope."""
    now, key = datetime.now(UTC), keys.mint()
    with transaction(engine, writes=True) as db:
        tenant = clients.create_tenant(db, "benchmark", now=now)
        secret = {"prefix": key.prefix, "secret_hash": keys.digest(key.secret)}
        clients.create_client(db, tenant.id, name="benchmark", scopes=scopes.SCOPES, now=now, **secret)
        importing.apply(db, importing.plan(db, tenant.id, bundle, stage=Stage.OPERATIONAL), actor="benchmark", now=now)
    return str(key)


def made_up_bundle(items: int, rng: np.random.Generator) -> Bundle:
    """items : their number, from easy to hard by rating, in the objectives in turn"""
    weight = 1.0 / (DOMAINS * OBJECTIVES)
    blueprint = tuple(
        ObjectiveContent(
            f"{d}",
            f"Domain {d}",
            OBJECTIVES * weight,
            tuple(ObjectiveContent(f"{d}.{o}", f"Objective {d}.{o}", weight) for o in range(1, OBJECTIVES + 1)),
        )
        for d in range(1, DOMAINS + 1)
    )
    codes = [objective.code for domain in blueprint for objective in domain.objectives]
    nowhere = Origin("made up")
    exam = ExamContent(slug=EXAM, title="Benchmark", blueprint=blueprint)
    return Bundle(
        exam=Part(EXAM, nowhere, (), exam),
        items=tuple(
            ItemPart(f"item-{i}", nowhere, (), made_up_item(i, codes[i % len(codes)], rng)) for i in range(items)
        ),
    )


def made_up_item(number: int, objective: str, rng: np.random.Generator) -> ItemContent:
    """A single-choice item with four options, the length of those of the sample exam."""
    key = int(rng.integers(4))
    return ItemContent(
        kind=ItemKind.SINGLE_CHOICE,
        objective=objective,
        stem=f"Item {number}: {prose(rng, 30)}?",
        options=tuple(
            OptionContent(f"option-{place}", f"{place}: {prose(rng, 9)}", place == key, prose(rng, 30))
            for place in range(4)
        ),
        short_explanation=prose(rng, 35),
        full_explanation="\n\n".join(prose(rng, 50) for _ in range(3)),
        tags=("bloom:apply",),
        angoff=round(float(rng.uniform(0.3, 0.95)), 2),
    )


def prose(rng: np.random.Generator, words: int) -> str:
    return " ".join(rng.choice(WORDS, words))
