"""Criteria: one score per item, the higher the better; all of a slice of the pool at once.

Scores are finite. An item's score is the same in every slice, but for two criteria that look at the slice as a whole:
`a_stratified` makes its strata of the slice, and `progressive` draws up to the highest information in it. Scores are
comparable within a slice, which is how they are used. Those that measure are computed without BLAS, whose threads would
round differently, or in blocks too small for threads; so the same context and slice give the same bits.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from engine.irt import NODES, information, log_probabilities, probability
from engine.irt.types import BoolArray, FloatArray, IntArray, TableArray
from engine.pool import BLOCK, Pool
from engine.selection.eligibility import objectives_with
from engine.selection.exposure import Chance
from engine.selection.policy import Criterion, Policy
from engine.selection.profile import Profile
from engine.selection.strata import distance_in_strata, stratum_at
from engine.selection.teaching import suitability, worth

NEGLIGIBLE = 1e-12
LIKELY = 1e-7  # node probabilities below this are left out where each node costs a curve; together under 0.002 %
PIECE = 2048  # items at a time, where each node costs a curve


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """What a criterion may look at; nothing else decides a score.

    probabilities : (121,), node probabilities of the ability, sum 1;  theta, standard_error : its mean and sd, logits
    position : of the item to choose, from 1;  eligible : (I,), the items that may be served
    rng : the chance of this position, from `rng_for`;  profile : of the learner by objective, None if unknown
    administered : (n,), pool indices of this sitting so far
    """

    pool: Pool
    probabilities: FloatArray
    theta: float
    standard_error: float
    position: int
    policy: Policy
    eligible: BoolArray
    rng: Chance
    profile: Profile | None = None
    administered: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))


def posterior_information(context: Context, span: slice) -> TableArray:
    """Fisher information of the items in `span`, averaged over what is known of the ability; a new array.

    Early on, where the estimate may be far off, this prefers items that are useful over the whole likely range.
    Source: van der Linden (1998), Psychometrika 63(2), 201-216, who calls it maximum posterior-weighted information.
    """
    weights = table_weights(context.probabilities)
    first, last = span.start // BLOCK, -(-span.stop // BLOCK)
    scores = context.pool.information_blocks[first:last] @ weights  # whole blocks: the same score in every span
    offset = first * BLOCK
    return np.asarray(scores.reshape(-1)[span.start - offset : span.stop - offset])


def table_weights(probabilities: FloatArray) -> TableArray:
    """Node probabilities (..., 61) for the information table from those (..., 121) of the ability grid.

    A node that the table skips gives half of its own to each neighbour.

    That costs the best items under 0.5 % of their score, and no posterior is so narrow that it falls between two nodes.
    The tails are cut off where they would be subnormal in float32: such numbers make the product ten times slower.
    """
    weights = probabilities[..., ::2].copy()
    halves = 0.5 * probabilities[..., 1::2]
    weights[..., :-1] += halves
    weights[..., 1:] += halves
    weights[weights < NEGLIGIBLE] = 0.0
    return weights.astype(np.float32)


def maximum_information(context: Context, span: slice) -> FloatArray:
    """Fisher information of the items in `span` at the estimate.

    Source: Lord (1980), Applications of item response theory to practical testing problems, chapter 10.
    """
    return information(context.theta, *parameters(context.pool, span))


def kullback_leibler(context: Context, span: slice) -> FloatArray:
    """How well the answers at the estimate tell it from every other ability, averaged over the posterior.

    The divergence KL(theta || t) = P log(P / P(t)) + Q log(Q / Q(t)), with P and Q at the estimate theta, is averaged
    over t with the node probabilities, not over an interval of width 3 / sqrt(n): that has to be capped for the first
    items, and the posterior says the same from the first item on.
    Source: Chang & Ying (1996), Applied Psychological Measurement 20(3), 213-229.
    """
    nodes, weights = likely(context.probabilities)

    def score(piece: slice) -> FloatArray:
        items = parameters(context.pool, piece)
        right, wrong = log_probabilities(context.theta, *items)  # (n,)
        right_there, wrong_there = log_probabilities(nodes, *items)  # (Q, n)
        against_right = averaged(weights, right - right_there)
        return np.exp(right) * against_right + np.exp(wrong) * averaged(weights, wrong - wrong_there)

    return in_pieces(score, span)


def minimum_expected_posterior_variance(context: Context, span: slice) -> FloatArray:
    """By how much an answer to each item is expected to lower the posterior variance of the ability, squared logits.

    With t the distance of a node from the mean and P its probability of a right answer, the variance that is to be
    expected is E[t^2] - E[t P]^2 / (E[P] E[1 - P]), both answers weighted; the score is what is taken away.
    Source: van der Linden (1998), Psychometrika 63(2), 201-216; Owen (1975), JASA 70(350), 351-356.
    """
    nodes, weights = likely(context.probabilities)
    away = nodes - averaged(weights, nodes)

    def score(piece: slice) -> FloatArray:
        curves = probability(nodes, *parameters(context.pool, piece))  # (Q, n)
        right, shift = averaged(weights, curves), averaged(weights * away, curves)
        spread = right * averaged(weights, 1.0 - curves)
        return np.divide(np.square(shift), spread, out=np.zeros_like(right), where=spread > 0.0)  # nothing if certain

    return in_pieces(score, span)


def a_stratified(context: Context, span: slice) -> FloatArray:
    """The nearest difficulty within the stratum whose turn it is: items of low discrimination first, of high ones last.

    The strata of `strata.by_discrimination`, made of the items in `span`, take turns over the maximum length. The score
    is minus the number of strata an item is away from the one in turn, minus d / (1 + d) for an item d logits away from
    the estimate: only when a stratum has run out does one beside it help out.
    Source: Chang & Ying (1999), Applied Psychological Measurement 23(3), 211-222.
    """
    pool, policy = context.pool, context.policy
    turn = stratum_at(context.position, length=policy.maximum_length or 1, strata=policy.strata)
    apart = distance_in_strata(pool, span, strata=policy.strata, stratum=turn)
    away = np.abs(pool.b[span] - context.theta)
    return np.asarray(-apart - away / (1.0 + away))


def progressive(context: Context, span: slice) -> FloatArray:
    """Information at the estimate, mixed with chance: all chance at the first item, all information at the last.

    s * information + (1 - s) * R, with R drawn for each item from 0 to the highest information of the eligible items
    in `span`, and s = (position - 1) / (maximum length - 1).
    Source: Revuelta & Ponsoda (1998), Journal of Educational Measurement 35(4), 311-327.
    """
    informs = maximum_information(context, span)
    highest = np.max(informs, initial=0.0, where=context.eligible[span])
    done = min(1.0, (context.position - 1) / max(1, (context.policy.maximum_length or 1) - 1))
    chance = highest * context.rng.uniforms(len(context.pool))[span]
    return np.asarray(done * informs + (1.0 - done) * chance)


def target_success(context: Context, span: slice) -> FloatArray:
    """Minus the distance of the probability of a right answer, at the estimate, from the policy's target.

    Practice at 0.7 to 0.8 keeps learners going for little loss of information.
    Source: Eggen & Verschoor (2006), Applied Psychological Measurement 30(5), 379-393.
    """
    chance = probability(context.theta, *parameters(context.pool, span))
    return np.asarray(-np.abs(chance - context.policy.target_success))


def readiness_gain(context: Context, span: slice) -> FloatArray:
    """Where practice helps most: the worth of an item's objective times how well its difficulty suits the learner.

    See `teaching`: weighty, weak or little known objectives, in turns, at the policy's probability of a right answer.
    """
    pool, profile = context.pool, context.profile
    counts = np.bincount(pool.objective[context.administered], minlength=pool.objective_weights.size)
    values = worth(profile, pool.objective_weights, counts, objectives_with(pool, context.eligible))
    where = pool.objective[span]
    theta = np.full(where.size, context.theta) if profile is None else profile.abilities[where]
    return values[where] * suitability(theta, *parameters(pool, span), target=context.policy.target_success)


def random(context: Context, span: slice) -> FloatArray:
    """A number drawn for each item: every eligible item has the same chance. For pilots and as a baseline."""
    return context.rng.uniforms(len(context.pool))[span]


def parameters(pool: Pool, span: slice) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """a, b, c and d (n,) of the items in `span`."""
    return pool.a[span], pool.b[span], pool.c[span], pool.d[span]


def likely(probabilities: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The nodes (Q,) that matter and their probabilities (Q,), sum 1."""
    matter = probabilities > LIKELY
    kept = probabilities[matter]
    return NODES[matter], kept / np.add.reduce(kept)


def averaged(weights: FloatArray, values: FloatArray) -> FloatArray:
    """The sum (...) of weights (Q,) times values (Q, ...), added up in the order of the nodes for every item alike."""
    total = np.zeros(values.shape[1:])
    for weight, row in zip(weights, values, strict=True):  # one pass per node; NumPy's own sums differ with the shape
        total += weight * row
    return total


def in_pieces(score: Callable[[slice], FloatArray], span: slice) -> FloatArray:
    """The scores of all items in `span`, a piece at a time: a curve per node and item is big for a big pool."""
    starts = range(span.start, span.stop, PIECE)
    pieces = [score(slice(start, min(start + PIECE, span.stop))) for start in starts]
    return np.concatenate(pieces) if pieces else np.empty(0)


CRITERIA: Mapping[Criterion, Callable[[Context, slice], TableArray | FloatArray]] = {
    Criterion.posterior_information: posterior_information,
    Criterion.maximum_information: maximum_information,
    Criterion.kullback_leibler: kullback_leibler,
    Criterion.minimum_expected_posterior_variance: minimum_expected_posterior_variance,
    Criterion.a_stratified: a_stratified,
    Criterion.progressive: progressive,
    Criterion.target_success: target_success,
    Criterion.readiness_gain: readiness_gain,
    Criterion.random: random,
}
