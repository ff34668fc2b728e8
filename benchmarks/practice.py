"""Practice that teaches: answers a learner needs until 80 % of the blueprint's weight is mastered, by way of choosing.

Simulated learners learn from every answered and explained item and forget between sittings. An objective is mastered
while the learner's true expected score on its items is at the exam's pass mark. What is simulated rests on published
findings, not on what the criterion assumes, and the rows of the second table change one assumption each:

- Ability on objective k is g + d_k, g ~ N(cut - 0.77, 0.7^2), d_k ~ N(0, 0.6^2): from 65 % right on average to
  80 % is what learners come with and leave with in Koedinger et al.; the pass mark is 75 % right, guessing included.
- An answered and explained item adds 0.2 logits to ability on its objective, times a zone, so 0.1 logits on average;
  learners' rates are alike (sd 0.2 of the log), as Koedinger, Carvalho, Liu & McLaughlin (2023), PNAS 120(13),
  e2221311120, found in 27 data sets.
- A quarter of the zone is there for any item, the rest by difficulty, highest where 84 % know the answer: Wilson,
  Shenhav, Straccia & Cohen (2019), Nature Communications 10, 4646. It is Vygotsky's zone in numbers; guessing is out.
  *middle zone* puts its peak at 50 %, as the gradient of logistic regression has it; *no zone* lets every item teach.
- What practice added is halved after a number of days without it, and every day of practice adds as many:
  half-life regression, Settles & Meeder (2016), ACL, 1848-1858, with 10 days. What was known before stays.
- An item met before may be remembered (power law of forgetting, 90 % after as many days as it was met, times 3), and
  then is answered right; meeting it again teaches the objective 0.7 of what a new one does, as the effect of tests on
  other than the tested matter (d = 0.40, Pan & Rickard 2018, Psychological Bulletin 144(7), 710-756) is to that on the
  matter itself (g = 0.61, Adesope, Trevisan & Sundararajan 2017, Review of Educational Research 87(3), 659-701).

Ours goes through `engine.selection.decide` with the learner's state, memories and due queue as `engine.delivery` does;
the others know as much but choose otherwise, without reviews or siblings:

- random order; maximum information at the estimate
- weakest first: an item at random of the objective with the lowest expected score at the estimated ability
- ours, no reviews: the criterion alone

Ratios are answers needed by the other to ours, means over learners with a seed's bank, with a 95 % interval over seeds.
Run: python -m benchmarks.practice [--seeds 20] [--learners 3] [--worlds 6] [--json]
"""

import argparse
import os

# One thread for every library; they read this when they are imported.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

from collections.abc import Sequence  # noqa: E402
from dataclasses import dataclass, field, replace  # noqa: E402
from datetime import UTC, datetime, timedelta  # noqa: E402

import numpy as np  # noqa: E402
from scipy.special import ndtri  # noqa: E402
from scipy.stats import t  # noqa: E402

from benchmarks._common import emit, print_table  # noqa: E402
from engine import learner  # noqa: E402
from engine.irt import NODES, log_likelihood, normal_log_prior  # noqa: E402
from engine.learner import Memory, Prior  # noqa: E402
from engine.learner.scores import expected_scores  # noqa: E402
from engine.pool import Pool  # noqa: E402
from engine.selection import PRACTICE, Criterion, Policy, Profile, Waiting, decide, waiting_after  # noqa: E402

SEED = 20261201
DOMAINS, OBJECTIVES, ITEMS = 4, 12, 480
PASS_MARK = 0.75
WANTED = 0.8  # of the blueprint's weight
MOST_ANSWERS = 1_500  # a learner who isn't there by then counts with so many
MONDAY = datetime(2026, 1, 5, 18, 0, tzinfo=UTC)
NARROWEST = 0.1

PLAIN = replace(PRACTICE, review_share=0.0, sibling_after=None)
POLICIES: dict[str, Policy] = {
    "ours": PRACTICE,
    "random order": replace(PLAIN, criterion=Criterion.random),
    "maximum information": replace(PLAIN, criterion=Criterion.maximum_information, randomesque=1),
    "weakest first": replace(PLAIN, criterion=Criterion.random),
    "ours, no reviews": PLAIN,
}

OTHERS = ("random order", "maximum information", "weakest first")


@dataclass(frozen=True)
class World:
    """What is assumed of learners; see the module's docstring. Logits and days."""

    step: float = 0.2
    rate_sd: float = 0.2
    zone: str = "high"
    short: float = 0.77
    sd: float = 0.7
    deviation: float = 0.6
    half_life: float = 10.0
    per_day: int = 25
    days_between: int = 1
    transfer: float = 0.7


WORLDS: dict[str, World] = {
    "middle zone": World(zone="middle"),
    "no zone": World(zone="none"),
    "half the step": World(step=0.1),
    "forgetting in 3 days": World(half_life=3.0),
    "practice twice a week": World(days_between=3),
    "objectives alike": World(deviation=0.3),
    "objectives apart": World(deviation=1.0),
    "reviews teach nothing": World(transfer=0.0),
}


def zone(chance: float, kind: str) -> float:
    """How much an item teaches whose answer is known with this probability, at most 1."""
    if kind == "none":
        return 1.0
    if kind == "middle":
        return 0.25 + 0.75 * 4.0 * chance * (1.0 - chance)
    z = float(ndtri(min(max(chance, 1e-6), 1.0 - 1e-6)))
    return 0.25 + 0.75 * max(0.0, z * np.exp(0.5 - 0.5 * z * z))


def make_pool(seed: int) -> Pool:
    """A bank of 3PL items in objectives of unequal weight and difficulty, with some enemies and siblings."""
    rng = np.random.default_rng([SEED, seed])
    objective = np.repeat(np.arange(OBJECTIVES), ITEMS // OBJECTIVES)
    same = np.array([[40 * k + 2 * i, 40 * k + 2 * i + 1] for k in range(OBJECTIVES) for i in range(6)])
    return Pool(
        version=1,
        items=np.arange(ITEMS),
        item_versions=np.arange(ITEMS) + 1_000,
        a=np.clip(np.exp(rng.normal(0.0, 0.3, ITEMS)), 0.3, 3.0),
        b=rng.normal(0.0, 0.3, OBJECTIVES)[objective] + rng.normal(0.0, 0.9, ITEMS),
        c=np.full(ITEMS, 0.25),
        d=np.ones(ITEMS),
        objective=objective,
        objective_codes=tuple(f"{1 + k // 3}.{1 + k % 3}" for k in range(OBJECTIVES)),
        objective_weights=rng.dirichlet(np.full(OBJECTIVES, 4.0)),
        domain=np.arange(OBJECTIVES) * DOMAINS // OBJECTIVES,
        domain_codes=tuple("1234"),
        enemies=same[::2],
        siblings=same[1::2],
    )


@dataclass
class Simulated:
    """A learner's truth: what is known at the start, what practice added, and when each thing was met last."""

    world: World
    base: np.ndarray
    rate: float
    added: np.ndarray = field(default_factory=lambda: np.zeros(OBJECTIVES))
    days: np.ndarray = field(default_factory=lambda: np.zeros(OBJECTIVES))  # of practice
    last: np.ndarray = field(default_factory=lambda: np.full(OBJECTIVES, -1.0))
    met: np.ndarray = field(default_factory=lambda: np.zeros(ITEMS))
    met_last: np.ndarray = field(default_factory=lambda: np.full(ITEMS, -1.0))

    @classmethod
    def drawn(cls, world: World, cut: float, rng: np.random.Generator) -> "Simulated":
        base = rng.normal(cut - world.short, world.sd) + rng.normal(0.0, world.deviation, OBJECTIVES)
        return cls(world, base, world.step * float(np.exp(rng.normal(0.0, world.rate_sd))))

    @property
    def ability(self) -> np.ndarray:
        return self.base + self.added

    def sleep(self) -> None:
        """The days to the next sitting."""
        half_life = self.world.half_life * np.maximum(1.0, self.days)
        self.added *= 0.5 ** (self.world.days_between / half_life)

    def answer(self, pool: Pool, place: int, today: float, uniform: float) -> bool:
        """Whether the item is answered right; its explanation is read then."""
        k, (a, b, c, _) = int(pool.objective[place]), pool.parameters(place)
        known = 1.0 / (1.0 + np.exp(-a * (self.ability[k] - b)))
        share = 1.0
        if self.met[place]:
            passed = today - self.met_last[place]
            known += (1.0 - known) * (1.0 + (0.9**-2 - 1.0) * passed / (3.0 * self.met[place])) ** -0.5
            share = self.world.transfer
        self.added[k] += share * self.rate * zone(known, self.world.zone)
        self.met[place] += 1
        self.met_last[place] = today
        self.days[k] += self.last[k] != today
        self.last[k] = today
        return bool(uniform < c + (1.0 - c) * known)


def weakest(pool: Pool, curves: np.ndarray, abilities: np.ndarray, unseen: np.ndarray) -> list[str]:
    """The objective with the lowest expected score, of those with items left."""
    left = np.add.reduceat(unseen, pool.objective_start[:-1]) > 0
    scores = np.where(left, expected_scores(curves, abilities), np.inf)
    return [pool.objective_codes[int(scores.argmin())]] if left.any() else []


def practise(pool: Pool, policy: Policy, world: World, seed: int, *, weakest_first: bool = False) -> int:
    """Answers that one learner needs; everything is drawn from the seed."""
    rng = np.random.default_rng([SEED, seed])
    curves = learner.objective_curves(pool)
    shares = pool.objective_weights / pool.objective_weights.sum()
    cut = float(np.interp(PASS_MARK, shares @ curves, NODES))
    truth, uniforms = Simulated.drawn(world, cut, rng), rng.random(MOST_ANSWERS)
    prior = Prior(mean=cut - 0.5)
    state = learner.initial(OBJECTIVES, prior)
    memories: dict[int, Memory] = {}
    answered = 0
    for sitting in range(MOST_ANSWERS):
        today = float(sitting * world.days_between)
        now = MONDAY + timedelta(days=today)
        if sitting:
            truth.sleep()
            state = learner.drifted(state, world.days_between, prior)
        known = learner.overall(state, pool.objective_weights)
        log_posterior = normal_log_prior(known.theta, max(known.standard_error, NARROWEST))
        seen = truth.met > 0
        resting = seen & (truth.met_last > today - policy.repeat_after_hours / 24.0)
        places = list(memories)
        queue = [int(pool.item_versions[places[i]]) for i in learner.due(list(memories.values()), now)]
        administered: list[int] = []
        waiting: tuple[Waiting, ...] = ()
        for _ in range(world.per_day):
            mastered = expected_scores(curves, truth.ability) >= PASS_MARK
            if shares[mastered].sum() >= WANTED or answered == MOST_ANSWERS:
                return answered
            abilities = learner.ability_means(state)
            trace = decide(
                pool,
                policy,
                log_posterior,
                administered=administered,
                objectives=weakest(pool, curves, abilities, truth.met == 0) if weakest_first else (),
                excluded=seen,
                resting=resting,
                suspended=(),
                seed=seed,
                queue=queue if policy.review_share else (),
                waiting=waiting,
                profile=Profile.of(abilities, learner.ability_sds(state), cut)
                if policy.criterion is Criterion.readiness_gain
                else None,
            )
            if trace is None:
                break
            place = pool.index_of_version[trace["item_version"]]
            first = truth.met[place] == 0
            right = truth.answer(pool, place, today, uniforms[answered])
            if first:
                k = int(pool.objective[place])
                state = learner.updated(state, k, right, *pool.parameters(place))
                log_posterior = log_posterior + log_likelihood(right, *pool.parameters(place))
            memories[place] = learner.reviewed(memories.get(place), learner.rating(right), now)
            administered.append(trace["item_version"])
            waiting = waiting_after(policy, trace, right=right)
            answered += 1
    return answered


def needed(name: str, world: World, seeds: int, learners: int) -> np.ndarray:
    """Mean answers needed (seeds,) by one way of choosing."""
    policy, weakest_first = POLICIES[name], name == "weakest first"
    means = []
    for seed in range(seeds):
        pool, people = make_pool(seed), range(1_000 * seed, 1_000 * seed + learners)
        means.append(np.mean([practise(pool, policy, world, each, weakest_first=weakest_first) for each in people]))
    return np.array(means)


def interval(ratios: np.ndarray) -> tuple[float, float, float]:
    """Geometric mean and its 95 % interval by Student's t on the logarithms."""
    logs = np.log(ratios)
    half = float(t.ppf(0.975, logs.size - 1)) * logs.std(ddof=1) / np.sqrt(logs.size)
    return float(np.exp(logs.mean())), float(np.exp(logs.mean() - half)), float(np.exp(logs.mean() + half))


def compared(world: World, seeds: int, learners: int, names: Sequence[str]) -> list[dict[str, object]]:
    """One row per way of choosing."""
    ours, rows = needed("ours", world, seeds, learners), []
    for name in names:
        answers = ours if name == "ours" else needed(name, world, seeds, learners)
        ratio, low, high = interval(answers / ours) if name != "ours" else (1.0, 1.0, 1.0)
        rows.append({"way": name, "answers": float(answers.mean()), "ratio": ratio, "low": low, "high": high})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20, help="banks, each with learners of its own (default: 20)")
    parser.add_argument("--learners", type=int, default=3, help="learners with each bank (default: 3)")
    parser.add_argument("--worlds", type=int, default=6, help="banks for each changed assumption, 0 for none")
    parser.add_argument("--json", action="store_true", help="print the result as JSON, in the last line")
    arguments = parser.parse_args()
    rows = compared(World(), arguments.seeds, arguments.learners, list(POLICIES))
    print_table(rows)
    print()
    worlds = []
    for name, world in WORLDS.items() if arguments.worlds > 1 else ():
        found = compared(world, arguments.worlds, 1, OTHERS)
        worlds.append({"assumption": name} | {f"{row['way']} / ours": row["ratio"] for row in found})
    print_table(worlds)
    emit("practice", {"rows": rows, "worlds": worlds}, arguments.json)


if __name__ == "__main__":
    main()
