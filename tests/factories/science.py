"""The 1,000-item science pool and its 36 assembly constraints, read from the reference data."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.irt import information, probability
from engine.selection.constraints import (
    AllOrNone,
    Constraint,
    Count,
    Enemies,
    Exclude,
    Include,
    Ordered,
    Where,
)

TEXTS = {"ID", "OBJECTIVE", "TYPE"}
KINDS = {"Enemy": Enemies, "Include": Include, "Exclude": Exclude, "AllOrNone": AllOrNone}
CONDITION = re.compile(r"\s*(\w+)\s*(==|%in%|>=|<)\s*(.*?)\s*$")


@dataclass(frozen=True)
class Bank:
    """I items: 3PL (a, b, c), and generalized partial credit (a, two or three thresholds)."""

    attributes: dict[str, np.ndarray]  # name to (I,) texts or numbers
    parameters: np.ndarray  # (I, 4), NaN where there is none
    is_partial_credit: np.ndarray  # (I,)
    constraints: tuple[Constraint, ...]

    @property
    def items(self) -> int:
        return len(self.parameters)

    def information(self, theta: float) -> np.ndarray:
        """Fisher information (I,) at an ability; of partial credit a^2 times the variance of the score."""
        a, b, c, _ = self.parameters.T
        two = self.is_partial_credit
        found = np.zeros(self.items)
        found[~two] = information(theta, a[~two], b[~two], c[~two])
        p, score = partial_credit(theta, self.parameters[two]), np.arange(4.0)
        found[two] = a[two] ** 2 * (p @ score**2 - (p @ score) ** 2)
        return found

    def scores(self, item: int, theta: np.ndarray) -> np.ndarray:
        """Probability (Q, 4) of each score of one item at abilities (Q,)."""
        if self.is_partial_credit[item]:
            return np.concatenate([partial_credit(at, self.parameters[item : item + 1]) for at in theta])
        right = probability(theta, *self.parameters[item, :3]).reshape(-1, 1)
        return np.hstack([1.0 - right, right, 0.0 * right, 0.0 * right])


def partial_credit(theta: float, parameters: np.ndarray) -> np.ndarray:
    """Probability (G, 4) of each score; a score that an item doesn't have gets 0."""
    steps = parameters[:, :1] * (theta - parameters[:, 1:])  # (G, 3)
    z = np.column_stack([np.zeros(len(steps)), np.cumsum(np.where(np.isnan(steps), -np.inf, steps), axis=1)])
    p = np.exp(z - z.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def read_science(folder: Path) -> Bank:
    """The pool in the folder of banks."""
    parameters = rows(folder / "params_testdesign_science.csv")
    described = rows(folder / "params_testdesign_science_attributes.csv")
    attributes = {
        name: np.array([row[name] if name in TEXTS else float(row[name]) for row in described]) for name in described[0]
    }
    numbers = [[float(row[f"PAR{k}"] or "nan") for k in range(1, 5)] for row in parameters]
    return Bank(
        attributes,
        np.array(numbers),
        np.array([row["MODEL"] == "GPC" for row in parameters]),
        tuple(constraint(row) for row in rows(folder / "constraints_science.csv")),
    )


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def constraint(row: dict[str, str]) -> Constraint:
    """A row of the constraint file, which has R's conditions, as ours."""
    name, kind, condition = row["CONSTRAINT_ID"], row["TYPE"], row["CONDITION"]
    if kind == "Order":
        return Ordered(name=name, attribute=condition)
    where = tuple(one(part) for part in condition.split("&")) if condition else ()
    if kind == "Number":
        return Count(name=name, where=where, least=int(row["LB"]), most=int(row["UB"]))
    return KINDS[kind](name=name, where=where)


def one(condition: str) -> Where:
    found = CONDITION.match(condition)
    assert found, condition
    attribute, operator, right = found.groups()
    texts = [text.strip(' "') for text in right.removeprefix("c(").removesuffix(")").split(",")]
    values = tuple(text if attribute in TEXTS else float(text) for text in texts)
    if operator in ("==", "%in%"):
        return Where(attribute=attribute, among=values)
    return Where(attribute=attribute, least=float(values[0]), negated=operator == "<")
