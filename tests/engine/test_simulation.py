"""Simulated sittings: the same choices as a learner gets, honest errors, results that don't depend on batches."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from engine.errors import InvalidPolicy
from engine.irt import NODES, estimate, information, log_posteriors, normal_log_prior, posterior, update
from engine.irt.ability import moments
from engine.pool import Pool
from engine.selection import ADAPTIVE_TEST, Criterion, Policy, content, decide, priority
from engine.simulation import (
    STOPS,
    Grid,
    Normal,
    Rules,
    Sittings,
    plots,
    read_bank,
    report,
    rules,
    shortlists,
    simulate,
)
from engine.simulation.abilities import parsed
from engine.simulation.chance import sitting_seeds, uniforms
from engine.simulation.lockstep import simulate_batches
from engine.simulation.needs import most_urgent, priorities
from engine.simulation.sittings import UNDECIDED
from tests.factories.pools import make_pool

FIXED = replace(ADAPTIVE_TEST, standard_error=None, minimum_length=0, maximum_length=15)
POLICIES = {
    "the adaptive test": replace(ADAPTIVE_TEST, maximum_length=20),
    "without balance": replace(FIXED, content_balancing=False),
    "best only": replace(FIXED, randomesque=1),
    "maximum information": replace(FIXED, criterion=Criterion.maximum_information),
    "maximum information alone": replace(
        FIXED, criterion=Criterion.maximum_information, content_balancing=False, randomesque=1
    ),
}


def bank(size: int, *, seed: int = 1, three: bool = False) -> Pool:
    rng = np.random.default_rng(seed)
    return make_pool(
        size,
        a=np.clip(np.exp(rng.normal(0.0, 0.3, size)), 0.3, 3.0),
        b=rng.normal(0.0, 1.0, size),
        c=rng.uniform(0.1, 0.3, size) if three else np.zeros(size),
        objective_weights=np.array([3.0, 2.0, 1.0]),
        enemies=np.random.default_rng(2).permutation(size)[: size // 4 * 2].reshape(-1, 2),
    )


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("three", [False, True])
def test_an_examinee_gets_the_items_that_a_learner_with_these_answers_and_this_seed_gets(name, three):
    pool, policy = bank(120, three=three), POLICIES[name]
    sittings = simulate(pool, Rules.of(policy), np.linspace(-2.0, 2.0, 9), seed=5)
    nothing = np.zeros(len(pool), dtype=np.bool_)
    for n in range(len(sittings)):
        log_posterior, administered = normal_log_prior(), []
        for position in range(int(sittings.length[n])):
            trace = decide(
                pool,
                policy,
                log_posterior,
                administered=administered,
                objectives=[],
                excluded=nothing,
                resting=nothing,
                suspended=[],
                seed=int(sittings.seeds[n]),
            )
            item = int(sittings.items[n, position])
            scores = {candidate["item_version"]: candidate["score"] for candidate in trace["candidates"]}
            served = int(pool.item_versions[item])
            # Equal to the last digits of float32 is equal: products of one and of many rows may round differently.
            assert served == trace["item_version"] or scores[served] == pytest.approx(
                scores[trace["item_version"]], rel=1e-6
            )
            administered.append(served)
            log_posterior = update(log_posterior, bool(sittings.right[n, position]), *pool.parameters(item))
        known = estimate(log_posterior)
        assert (sittings.estimate[n], sittings.standard_error[n]) == pytest.approx(known, abs=1e-9)


@pytest.mark.parametrize("name", POLICIES)
def test_batches_of_any_size_give_the_same_sittings(name):
    pool, theta = bank(60), Normal().abilities(50, seed=3)
    whole = simulate(pool, Rules.of(POLICIES[name]), theta, seed=3)
    for size in (1, 7, 50):
        parts = simulate(pool, Rules.of(POLICIES[name]), theta, seed=3, batch_size=size)
        for field in ("items", "right", "length", "stop", "seeds"):
            np.testing.assert_array_equal(getattr(parts, field), getattr(whole, field))
        np.testing.assert_allclose(parts.estimate, whole.estimate, atol=1e-12)


def test_an_answer_to_an_item_is_the_same_under_every_policy():
    pool, theta = bank(40), Normal().abilities(200, seed=9)
    answers = []
    for policy in (replace(FIXED, maximum_length=40), replace(FIXED, maximum_length=40, randomesque=30)):
        sittings = simulate(Pool(**{**vars_of(pool), "enemies": np.empty((0, 2))}), Rules.of(policy), theta, seed=9)
        row = np.full((200, 40), -1)
        for position in range(40):
            row[np.arange(200), sittings.items[:, position]] = sittings.right[:, position]
        answers.append(row)
    np.testing.assert_array_equal(*answers)


def vars_of(pool: Pool) -> dict[str, object]:
    names = ("version", "items", "item_versions", "objective", "objective_codes", "objective_weights")
    return {name: getattr(pool, name) for name in (*names, *"abcd")}


def test_the_error_is_what_the_test_claims_and_what_a_full_grid_gives():
    pool = bank(500)
    alone = POLICIES["maximum information alone"]
    theta = Normal().abilities(4000, seed=1)
    sittings = simulate(pool, Rules.of(replace(alone, maximum_length=30)), theta, seed=1)
    answers = np.full((theta.size, len(pool)), np.nan)
    np.put_along_axis(answers, sittings.items.astype(np.int64), sittings.right.astype(float), axis=1)
    exact, _ = moments(posterior(log_posteriors(answers, pool.a, pool.b, pool.c, pool.d)))
    np.testing.assert_allclose(sittings.estimate, exact, atol=1e-9)
    summary = report(pool, sittings, cut=0.0).summary
    assert abs(summary["bias"]) < 4 * summary["bias_se"]
    assert abs(summary["standard_error"] - summary["rmse"]) < 4 * summary["rmse_se"]


def test_a_bank_that_runs_out_ends_the_sitting_with_that_reason():
    pool = make_pool(6, enemies=np.array([[0, 1]]))
    sittings = simulate(pool, Rules.of(replace(FIXED, maximum_length=30)), np.zeros(8), seed=1)
    assert {str(STOPS[stop]) for stop in sittings.stop} == {"pool_exhausted"}
    assert set(sittings.length.tolist()) == {5}


def test_precision_stops_a_sitting_after_its_minimum():
    policy = replace(ADAPTIVE_TEST, minimum_length=4, maximum_length=25, standard_error=0.6)
    sittings = simulate(bank(200), Rules.of(policy), Normal().abilities(300, seed=2), seed=2)
    precise = sittings.stop == STOPS.index("standard_error")
    assert precise.any()
    assert (sittings.standard_error[precise] <= 0.6).all()
    assert sittings.length.min() >= 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Widened(Policy):
    """A later policy, with a feature that the simulation does not know of."""

    feature: int = 0


def test_a_sitting_that_might_not_end_is_refused():
    with pytest.raises(InvalidPolicy, match="maximum_length"):
        Rules.of(Policy())
    assert Rules.of(replace(Policy(), maximum_length=5)).maximum_length == 5


def test_a_feature_that_is_not_simulated_is_refused_by_name_unless_it_is_off():
    assert Rules.of(Widened(maximum_length=5)).maximum_length == 5
    with pytest.raises(InvalidPolicy, match="feature"):
        Rules.of(Widened(maximum_length=5, feature=1))


def test_a_criterion_that_is_not_simulated_is_refused(monkeypatch):
    monkeypatch.setattr(rules, "CRITERIA", (Criterion.maximum_information,))
    with pytest.raises(InvalidPolicy, match="posterior_information"):
        Rules.of(FIXED)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"theta": np.array([np.nan])}, "theta"),
        ({"theta": np.empty(0)}, "theta"),
        ({"log_prior": np.zeros(33)}, "log_prior"),
        ({"batch_size": 0}, "batch_size"),
        ({"pool": make_pool(0)}, "no items"),
    ],
)
def test_what_cannot_be_simulated_is_refused(change, message):
    arguments = {"pool": bank(10), "theta": np.zeros(2), "seed": 1, "log_prior": None, "batch_size": None} | change
    pool, theta = arguments.pop("pool"), arguments.pop("theta")
    with pytest.raises(ValueError, match=message):
        list(simulate_batches(pool, Rules.of(FIXED), theta, **arguments))


@pytest.mark.parametrize("evaluated", [1, 2, 12])
@pytest.mark.parametrize("kind", ["2PL", "3PL", "steep"])
def test_shortlists_find_what_looking_at_every_item_finds(monkeypatch, evaluated, kind):
    monkeypatch.setattr(shortlists, "EVALUATED", evaluated)  # with few, what is found has to be proven, or rejected
    pool = bank(400, three=kind == "3PL")
    if kind == "steep":  # peaks between the nodes, many times as high as at them
        pool = make_pool(400, a=np.random.default_rng(4).uniform(5.0, 90.0, 400), c=np.zeros(400))
    rng = np.random.default_rng(3)
    theta = np.clip(rng.normal(0.0, 1.5, 500), NODES[0], NODES[-1])
    available = rng.random((500, 400)) < rng.uniform(0.0, 1.0, (500, 1))
    available[0] = False
    scores = np.where(available, information(theta, pool.a, pool.b, pool.c, pool.d), -np.inf)
    expected = np.where(available.any(axis=1), scores.argmax(axis=1), -1)
    np.testing.assert_array_equal(shortlists.Shortlists.of(pool, 30).best(theta, available), expected)


@pytest.mark.parametrize("three", [False, True])
def test_the_bound_of_a_cell_holds_everywhere_in_it(three):
    pool = bank(50, three=three)
    lists = shortlists.Shortlists.of(pool, 50)  # all items are listed
    for inside in np.linspace(0.0, 1.0, 11):
        theta = NODES[:-1] + inside * np.diff(NODES)
        scores = information(theta, pool.a, pool.b, pool.c, pool.d)
        assert (np.take_along_axis(scores, lists.listed, axis=1) <= lists.bounds[:, :50]).all()


def sittings_of(theta, estimates, items, right) -> Sittings:
    items = np.asarray(items)
    return Sittings(
        theta=np.asarray(theta, dtype=float),
        estimate=np.asarray(estimates, dtype=float),
        standard_error=np.full(len(theta), 0.4),
        length=np.count_nonzero(items >= 0, axis=1),
        items=items,
        right=np.asarray(right, dtype=bool),
        stop=np.full(len(theta), STOPS.index("maximum_length"), dtype=np.int8),
        seeds=np.arange(len(theta)),
        decision=np.full(len(theta), UNDECIDED, dtype=np.int8),
        cut=np.full(len(theta), np.nan),
    )


def test_the_report_counts_by_hand():
    pool = make_pool(3, objectives=3, objective_weights=np.array([1.0, 1.0, 0.0]))
    theta, estimates = [-1.0, -1.0, 1.0, 1.0, 1.0], [-0.5, 0.5, -0.5, -0.25, 1.5]
    five = sittings_of(theta, estimates, [[0, 1], [0, 1], [0, 2], [0, -1], [0, 1]], np.zeros((5, 2)))
    found = report(pool, five, cut=0.0)
    summary = found.summary
    outcomes = [summary[name] for name in ("right_pass", "right_fail", "wrong_pass", "wrong_fail")]
    assert outcomes == pytest.approx([0.2, 0.2, 0.2, 0.4])
    assert (summary["accuracy"], summary["mean_length"], summary["shortest"]) == pytest.approx((0.4, 1.8, 1))
    error = np.array([0.5, 1.5, -1.5, -1.25, 0.5])
    assert summary["bias"] == pytest.approx(error.mean())
    assert summary["rmse"] == pytest.approx(np.sqrt(np.square(error).mean()))
    assert [row["exposure"] for row in found.items] == [1.0, 0.6, 0.2]
    assert summary["overlap_rate"] == pytest.approx((5 * 4 + 3 * 2) / (5 * 4) / 1.8)
    assert summary["content_violations"] == 0.2  # the third sitting has an item of an objective without weight
    assert [(row["theta"], row["examinees"]) for row in found.conditional] == [(-1.0, 2), (1.0, 3)]
    assert json.loads(json.dumps(found.to_json())) == found.to_json()


def test_passing_and_failing_count_apart():
    pool = make_pool(3)
    summary = report(pool, sittings_of([-1.0, -1.0, -1.0, 1.0], [1.0, 1.0, -1.0, 2.0], [[0]] * 4, [[0]] * 4), cut=0.0)
    found = [summary.summary[name] for name in ("right_pass", "right_fail", "wrong_pass", "wrong_fail")]
    assert found == [0.25, 0.25, 0.5, 0.0]


def test_content_balancing_violates_nothing_and_its_absence_is_seen():
    pool = bank(300)
    for balanced in (True, False):
        policy = replace(FIXED, content_balancing=balanced)
        summary = report(pool, simulate(pool, Rules.of(policy), np.zeros(200), seed=4), cut=0.0).summary
        assert (summary["content_violations"] == 0.0) is balanced


def test_pictures_are_made_in_both_formats_and_are_the_same_again():
    pool = bank(30)
    result = report(pool, simulate(pool, Rules.of(FIXED), Grid().abilities(60, seed=0), seed=0), cut=0.0)
    files = plots(result)
    assert set(files) == {"measurement.png", "measurement.svg", "exposure.png", "exposure.svg"}
    assert files["exposure.png"].startswith(b"\x89PNG")
    assert b"<svg" in files["measurement.svg"]
    assert plots(result) == files


@pytest.mark.parametrize(
    "text", ["normal(0)", "normal(0,0)", "grid(1,0,0.5)", "grid(0,1,0)", "grid(0,1e9,0.001)", "uniform(0,1)", ""]
)
def test_a_distribution_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match="expected"):
        parsed(text)


def test_everything_wrong_in_a_parameter_file_is_told_with_its_line():
    text = "a,b,c,id\n1,x,0.2,one\n1,0,1.2,two\n1,0,0.2,one\n1,0\n"
    bank, issues = read_bank(text, "bank.csv")
    assert bank is None
    assert [(issue.source, issue.pointer) for issue in issues] == [
        ("bank.csv:2", "/b"),
        ("bank.csv:3", "/c"),
        ("bank.csv:4", "/id"),
        ("bank.csv:5", ""),
    ]


def test_draws_are_uniform_and_not_related_between_examinees_items_and_seeds():
    people, items = (each.reshape(-1) for each in np.meshgrid(np.arange(500), np.arange(100), indexing="ij"))
    draws = uniforms(1, people, items)
    assert ((draws > 0.0) & (draws < 1.0)).all()
    counts = np.bincount((draws * 50).astype(int), minlength=50)
    assert np.square(counts - 1000).sum() / 1000 < 85.4  # 99.9 % of chi-squared with 49 degrees of freedom
    square = draws.reshape(500, 100)
    for one, other in (
        (square[1:], square[:-1]),
        (square[:, 1:], square[:, :-1]),
        (square, uniforms(2, people, items).reshape(500, 100)),
    ):
        assert abs(np.corrcoef(one.reshape(-1), other.reshape(-1))[0, 1]) < 0.02  # over 4 standard errors
    assert np.unique(sitting_seeds(1, np.arange(10_000))).size == 10_000


def test_abilities_are_as_asked_for_and_do_not_depend_on_how_many_there_are():
    theta = Normal(0.5, 2.0).abilities(20_000, seed=3)
    assert (theta.mean(), theta.std()) == pytest.approx((0.5, 2.0), abs=0.06)
    np.testing.assert_array_equal(Normal(0.5, 2.0).abilities(7, seed=3), theta[:7])
    np.testing.assert_array_equal(parsed("grid(-1, 1, 1)").abilities(5, seed=3), [-1.0, 0.0, 1.0, -1.0, 0.0])


@given(
    weights=arrays(np.float64, 4, elements=st.sampled_from([0.0, 0.5, 1.0, 3.0, 7.25])),
    counts=arrays(np.int64, (5, 4), elements=st.integers(0, 9)),
    in_play=arrays(np.bool_, (5, 4)).filter(lambda rows: rows.any(axis=1).all()),
)
def test_the_objective_whose_turn_it_is_is_that_of_a_session(weights, counts, in_play):
    turns = most_urgent(weights, counts, in_play)
    for turn, count, playing in zip(turns, counts, in_play, strict=True):
        share = content.shares(weights, playing)
        assert turn == content.most_urgent(share, content.deficits(share, count, playing))


@given(
    weights=arrays(np.float64, 4, elements=st.sampled_from([0.0, 0.5, 1.0, 3.0, 7.25])),
    counts=arrays(np.int64, (5, 4), elements=st.integers(0, 4)),
    in_play=arrays(np.bool_, (5, 4)).filter(lambda rows: rows.any(axis=1).all()),
    remaining=st.integers(1, 12),
)
def test_the_priorities_of_the_objectives_are_those_of_a_session(weights, counts, in_play, remaining):
    found = priorities(weights, counts, in_play, remaining=remaining)
    for row, count, playing in zip(found, counts, in_play, strict=True):
        share, kept = content.shares(weights, playing), count * playing
        allowed = priority.allowed(share, kept, remaining=remaining)
        np.testing.assert_array_equal(row, priority.unfilled(share, kept, remaining=remaining) * allowed)


@pytest.mark.parametrize("objectives", [2, 5, 8])
def test_the_objectives_take_turns_as_in_a_session(objectives):
    rng, playing = np.random.default_rng(6), np.ones(objectives, dtype=np.bool_)
    for _ in range(20):
        weights = rng.uniform(0.0, 5.0, objectives) ** 3  # so unequal that a heavy objective has to wait at times
        counts = np.zeros((1, objectives), dtype=np.int64)
        for _ in range(40):
            (turn,) = most_urgent(weights, counts, playing[None])
            share = content.shares(weights, playing)
            assert turn == content.most_urgent(share, content.deficits(share, counts[0], playing))
            counts[0, turn] += 1


ODD = {
    "one item": {"size": 1},
    "identical items": {"size": 40, "a": np.ones(40), "b": np.zeros(40)},
    "negative discriminations": {"size": 40, "a": np.linspace(-2.0, -0.5, 40)},
    "huge discriminations": {"size": 40, "a": np.geomspace(1.0, 1e6, 40)},
    "no discrimination": {"size": 40, "a": np.zeros(40)},
}


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("kind", ODD)
def test_odd_banks_are_simulated_to_the_end_with_finite_results(name, kind):
    pool = make_pool(**ODD[kind])
    sittings = simulate(
        pool, Rules.of(replace(POLICIES[name], standard_error=None)), np.linspace(-7.0, 7.0, 29), seed=1
    )
    assert np.isfinite(sittings.estimate).all()
    assert ((sittings.standard_error >= 0.0) & (sittings.standard_error < 1.1)).all()
    for length, items in zip(sittings.length, sittings.items, strict=True):
        assert np.unique(items[:length]).size == length == min(len(pool), POLICIES[name].maximum_length)
        assert (items[length:] == -1).all()


def test_hundreds_of_answers_give_what_the_log_posterior_gives():
    pool = make_pool(400, a=np.full(400, 1.5), c=np.zeros(400))
    theta = np.array([-5.0, 0.0, 5.0])
    policy = replace(POLICIES["maximum information alone"], maximum_length=400)
    sittings = simulate(pool, Rules.of(policy), theta, seed=2)
    answers = np.full((3, 400), np.nan)
    np.put_along_axis(answers, sittings.items.astype(np.int64), sittings.right.astype(float), axis=1)
    exact = moments(posterior(log_posteriors(answers, pool.a, pool.b)))
    np.testing.assert_allclose([sittings.estimate, sittings.standard_error], exact, atol=1e-9)
