"""What an answer says of ability, by the model of its item; the one place that decisions, replays and rebuilds ask.

An item with scored options speaks through the category that the answer reached, any other through right or wrong.
"""

from collections.abc import Sequence
from functools import lru_cache

from engine import irt
from engine.irt import ScoredModel
from engine.irt.types import FloatArray
from engine.pool import Pool
from itembank import scoring
from itembank.scoring import Scored

CURVES_KEPT = 4_000  # log-likelihoods of an answer to an item, 1 kB each


def evidence(pool: Pool, index: int, scored: Scored, selected: Sequence[str]) -> FloatArray:
    """Log-likelihood (121,) at NODES of an answer to the item at a pool index, read-only.

    scored : under the key that is to count;  selected : uuids of the options chosen
    """
    model = pool.scored.get(index)
    if model is None:
        return _dichotomous(scored.correct, *pool.parameters(index))
    return irt.evidence(model, category(model, scored, selected))


def polytomous(pool: Pool, index: int, scored: Scored, selected: Sequence[str]) -> FloatArray | None:
    """The same, but None for an item of which a, b, c, d say all."""
    return evidence(pool, index, scored, selected) if index in pool.scored else None


def category(model: ScoredModel, scored: Scored, selected: Sequence[str]) -> int:
    """The category that an answer reached: the option chosen, or the points earned."""
    if model.options:
        return model.options.index(selected[0])
    return scoring.category(scored.score, model.categories)


@lru_cache(maxsize=CURVES_KEPT)
def _dichotomous(right: bool, a: float, b: float, c: float, d: float) -> FloatArray:
    curve = irt.log_likelihood(right, a, b, c, d)
    curve.setflags(write=False)
    return curve
