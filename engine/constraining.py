"""A policy's hard constraints over a pool: what the bank knows of its items, and the program made of that.

Attributes are what an author sees: `item`, `external_id`, `kind`, `objective`, `domain`, `tags`, one attribute per
namespace of tags (numbers where all its values are), `words`, and the parameters `a` and `b`.
"""

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from engine import loading
from engine.irt.types import FloatArray
from engine.pool import Pool
from engine.selection import ContentLevel, Policy
from engine.selection.constraints import Constraint, Count, Where
from engine.selection.content import shares
from engine.selection.program import NO_ATTRIBUTES, Attributes, Column, Program, compile_constraints
from itembank import calibrations
from itembank.store import Db

LENGTH = "length"


def program_for(db: Db, pool: Pool, policy: Policy, objectives: Sequence[str]) -> Program | None:
    """What every form that a sitting under this policy may become has to meet; None for a policy without constraints.

    objectives : codes the sitting is limited to, empty for all
    Raises InvalidConstraint for one that asks for what the items don't have.
    """
    return form_program(db, pool, policy, objectives) if policy.constraints else None


def form_program(db: Db, pool: Pool, policy: Policy, objectives: Sequence[str]) -> Program:
    """The same for any policy with a maximum length: at least the length, proportions and enemies."""
    balance = policy.content_level if policy.content_balancing else None
    key = (pool.version, policy.constraints, balance, form_length(policy), tuple(objectives))
    return loading.cache(db).programs.get(key, partial(_compile, db, pool, policy, objectives))


def attributes_for(db: Db, pool: Pool, policy: Policy) -> Attributes:
    """What the policy's constraints may ask of the pool's items; nothing for a policy without."""
    return known_attributes(db, pool) if policy.constraints else NO_ATTRIBUTES


def known_attributes(db: Db, pool: Pool) -> Attributes:
    """All that constraints may ask of a pool's items."""
    return loading.cache(db).attributes.get(
        pool.version, lambda: attributes_of(pool, calibrations.pool_facts(db, pool.version))
    )


def form_length(policy: Policy) -> int:
    """The scored items of a whole form: pretest slots take their positions."""
    longest = policy.maximum_length or 0
    return longest - sum(slot <= longest for slot in set(policy.pretest_slots))


def _compile(db: Db, pool: Pool, policy: Policy, objectives: Sequence[str]) -> Program:
    length = form_length(policy)
    rules: list[Constraint] = [Count(name=LENGTH, least=length, most=length)]
    if policy.content_balancing:
        rules += proportions(pool, policy.content_level, length, objectives)
    named = {rule.name for rule in policy.constraints}
    rules = [rule for rule in rules if rule.name == LENGTH or rule.name not in named]  # its own word goes first
    attributes = known_attributes(db, pool)
    return compile_constraints([*rules, *policy.constraints], attributes, items=len(pool), enemies=pool.enemies)


def proportions(pool: Pool, level: ContentLevel, length: int, objectives: Sequence[str] = ()) -> list[Constraint]:
    """Counts that keep each objective, or each domain, within one item of its share of a form of these objectives."""
    by_domain = level is ContentLevel.domains
    codes = pool.domain_codes if by_domain else pool.objective_codes
    place = pool.domain if by_domain else np.arange(len(codes))
    in_play = np.isin(np.arange(len(pool.objective_codes)), pool.occupied)
    if objectives:
        in_play &= np.isin(pool.objective_codes, objectives)
    weights: FloatArray = np.bincount(place, pool.objective_weights * in_play, len(codes)).astype(np.float64)
    wanted = shares(weights, np.bincount(place, in_play, len(codes)) > 0) * length
    attribute = "domain" if by_domain else "objective"
    return [
        Count(
            name=f"{attribute} {code}",
            where=(Where(attribute=attribute, among=(code,)),),
            least=math.floor(share + 1e-9),
            most=math.ceil(share - 1e-9),
        )
        for code, share in zip(codes, wanted.tolist(), strict=True)
    ]


def attributes_of(pool: Pool, facts: Iterable[Any]) -> dict[str, Column]:
    """Columns (I,) by name. facts : rows with item_version_id, uuid, external_id, kind, tags, words; each item once"""
    rows: list[Any] = [None] * len(pool)
    for row in facts:
        rows[pool.index_of_version[row.item_version_id]] = row
    objectives = pool.objective.tolist()
    tags = [row.tags for row in rows]
    columns: dict[str, Column] = {
        "item": [str(row.uuid) for row in rows],
        "external_id": [row.external_id or "" for row in rows],
        "kind": [str(row.kind) for row in rows],
        "objective": [pool.objective_codes[k] for k in objectives],
        "domain": [pool.domain_codes[pool.domain[k]] for k in objectives],
        "tags": tags,
        "words": np.array([row.words for row in rows], dtype=np.float64),
        "a": pool.a,
        "b": pool.b,
    }
    for name in sorted({tag.partition(":")[0] for each in tags for tag in each if ":" in tag} - columns.keys()):
        columns[name] = namespace(name, tags)
    return columns


def namespace(name: str, tags: Sequence[Sequence[str]]) -> Column:
    """The values that tags of a namespace give to each item: numbers if all are, else texts, or several texts."""
    values = [[tag.partition(":")[2] for tag in each if tag.startswith(f"{name}:")] for each in tags]
    if all(len(each) <= 1 for each in values):
        numbers = [number(each[0]) if each else math.nan for each in values]
        if all(value is not None for value in numbers):
            return np.array(numbers, dtype=np.float64)
        return [each[0] if each else "" for each in values]
    return values


def number(text: str) -> float | None:
    """The finite number that a text says, if it says one."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
