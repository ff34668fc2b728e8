"""Every feature of a policy: a simulated examinee gets what a learner with the same seed and answers would get."""

from dataclasses import fields, replace

import numpy as np
import pytest

from engine.errors import InvalidPolicy
from engine.selection import ADAPTIVE_TEST, Classification, ContentRule, Criterion, Policy, StopReason, TimeOut
from engine.simulation import STOPS, Grid, Normal, Rules, report, rules, scores, simulate
from engine.simulation.rules import SIMULATED, WITHOUT_EFFECT
from tests.factories.pools import make_pool
from tests.factories.sittings import ALL_TRACED, repeated

BASE = replace(ADAPTIVE_TEST, standard_error=None, minimum_length=0, maximum_length=10)
ALONE = replace(BASE, content_balancing=False, randomesque=1)
INDEX = replace(BASE, content_rule=ContentRule.priority_index)
CRITERIA = sorted(scores.SCORERS)
WEIGHABLE = sorted(set(scores.SCORERS) - {Criterion.a_stratified, Criterion.target_success})

STOPPING = {
    "change_of_estimate": replace(BASE, change_of_estimate=0.12, minimum_length=3),
    "minimum_information": replace(BASE, minimum_information=0.35, maximum_length=40),
    "minimum_information at the end": replace(BASE, minimum_information=0.3, minimum_length=10),
    "standard_error and change_of_estimate": replace(BASE, standard_error=0.55, change_of_estimate=0.1),
    "confidence_interval": replace(
        BASE, classification=Classification.confidence_interval, confidence=0.8, minimum_length=3
    ),
    "sprt": replace(BASE, classification=Classification.sprt, indifference=0.6, alpha=0.1, beta=0.2),
    "everything": replace(
        BASE,
        classification=Classification.sprt,
        indifference=0.5,
        alpha=0.2,
        beta=0.2,
        standard_error=0.5,
        change_of_estimate=0.15,
        minimum_information=0.2,
        minimum_length=4,
        on_time_out=TimeOut.fail,
    ),
}
ODD = {
    "one item": {"size": 1},
    "identical items": {"size": 40, "a": np.ones(40), "b": np.zeros(40)},
    "a few kinds of items": {"size": 41, "a": np.resize([1.0, 1.4, 0.8], 41), "b": np.resize([-0.5, 0.5], 41)},
    "negative discriminations": {"size": 40, "a": np.linspace(-2.0, -0.5, 40)},
    "huge discriminations": {"size": 40, "a": np.geomspace(1.0, 1e6, 40)},
    "no discrimination": {"size": 40, "a": np.zeros(40)},
    "runs out": {"size": 8, "enemies": np.array([[0, 1], [5, 2]])},
}


@pytest.fixture(autouse=True)
def traces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*ALL_TRACED)


def bank(size: int = 90, *, seed: int = 1):
    rng = np.random.default_rng(seed)
    return make_pool(
        size,
        a=np.clip(np.exp(rng.normal(0.0, 0.3, size)), 0.3, 3.0),
        b=rng.normal(0.0, 1.0, size),
        c=rng.uniform(0.0, 0.25, size),
        objective_weights=np.array([3.0, 2.0, 1.0]),
        enemies=np.random.default_rng(2).permutation(size)[: size // 4 * 2].reshape(-1, 2),
    )


def differences(pool, policy, *, count=24, cut=0.2, seed=5):
    sittings = simulate(pool, Rules.of(policy), Normal(0.0, 1.3).abilities(count, seed), seed=seed, cut=cut)
    found = [f"{n}: {what}" for n in range(count) for what in repeated(pool, policy, sittings, n, cut=cut)]
    return sittings, found


@pytest.mark.parametrize("base", [ALONE, BASE, replace(BASE, content_balancing=False, randomesque=3)])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_an_examinee_gets_the_items_that_a_learner_gets(criterion, base):
    assert differences(bank(), replace(base, criterion=criterion))[1] == []


@pytest.mark.parametrize("randomesque", [1, 4])
@pytest.mark.parametrize("criterion", WEIGHABLE)
def test_the_priority_index_chooses_as_in_a_session(criterion, randomesque):
    sittings, found = differences(bank(), replace(INDEX, criterion=criterion, randomesque=randomesque))
    assert found == []
    assert report(bank(), sittings, cut=0.2).summary["content_violations"] == 0.0


def test_the_priority_index_helps_itself_once_an_objective_has_run_out():
    pool = make_pool(20, objective=[0] * 2 + [1] * 12 + [2] * 6, objective_weights=np.array([3.0, 2.0, 0.5]))
    assert differences(pool, replace(INDEX, maximum_length=18))[1] == []


@pytest.mark.parametrize("name", STOPPING)
def test_an_examinee_stops_where_a_learner_stops_and_is_decided_alike(name):
    sittings, found = differences(bank(), STOPPING[name], count=40)
    assert found == []
    assert np.unique(sittings.stop).size > 1


def test_the_first_reason_of_several_counts():
    pool, theta = bank(), Normal().abilities(400, seed=5)
    sittings = simulate(pool, Rules.of(STOPPING["everything"]), theta, seed=5, cut=0.2)
    stops = {STOPS[stop] for stop in sittings.stop}
    assert stops >= {StopReason.classified, StopReason.standard_error, StopReason.estimate_settled}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_odd_banks_are_served_alike_and_to_the_end(criterion, kind):
    pool = make_pool(**ODD[kind])
    for base in (ALONE, BASE) if criterion not in WEIGHABLE else (ALONE, BASE, INDEX):
        sittings, found = differences(pool, replace(base, criterion=criterion), count=6)
        assert found == []
        assert np.isfinite([sittings.estimate, sittings.standard_error]).all()
        assert sittings.length.max() <= min(len(pool), 10)


@pytest.mark.parametrize("name", STOPPING)
@pytest.mark.parametrize("kind", ODD)
def test_odd_banks_stop_alike(name, kind):
    assert differences(make_pool(**ODD[kind]), STOPPING[name], count=8)[1] == []


@pytest.mark.parametrize("criterion", CRITERIA)
def test_batches_of_any_size_give_the_same_sittings(criterion):
    pool, theta = make_pool(**ODD["a few kinds of items"]), Normal().abilities(30, seed=3)
    for base in (BASE, ALONE) if criterion not in WEIGHABLE else (ALONE, INDEX):
        policy = replace(base, criterion=criterion, classification=Classification.sprt, maximum_exposure=0.6)
        whole = simulate(pool, Rules.of(policy), theta, seed=3, cut=0.1)
        for size in (3, 11):
            parts = simulate(pool, Rules.of(policy), theta, seed=3, cut=0.1, batch_size=size)
            for field in ("items", "right", "length", "stop", "seeds", "decision"):
                np.testing.assert_array_equal(getattr(parts, field), getattr(whole, field))


def test_no_item_that_has_to_wait_in_the_pool_changes_what_a_block_gets(monkeypatch):
    policy = replace(INDEX, criterion=Criterion.progressive)
    whole, _ = differences(bank(), policy)
    monkeypatch.setattr("engine.simulation.choosing.BLOCK_CELLS", 200)  # two or three examinees at a time
    np.testing.assert_array_equal(differences(bank(), policy)[0].items, whole.items)


def test_the_proportions_are_refused_aloud_where_the_pool_cannot_keep_them():
    pool = make_pool(30, objective_weights=np.array([8.0, 1.0, 1.0]))
    strict = replace(BASE, strict_content=True)
    assert len(simulate(pool, Rules.of(strict), np.zeros(2), seed=1)) == 2
    with pytest.raises(InvalidPolicy, match=r"1\.1 has 10 of 16 items"):
        simulate(pool, Rules.of(replace(strict, maximum_length=20)), np.zeros(2), seed=1)


def test_a_policy_that_classifies_needs_a_cut_score_and_the_report_the_same_one():
    policy = STOPPING["sprt"]
    for cut in (None, np.nan):
        with pytest.raises(ValueError, match="cut score"):
            simulate(bank(), Rules.of(policy), np.zeros(2), seed=1, cut=cut)
    sittings = simulate(bank(), Rules.of(policy), np.zeros(2), seed=1, cut=0.5)
    with pytest.raises(ValueError, match=r"about 0\.5"):
        report(bank(), sittings, cut=0.0)


def test_a_time_limit_is_refused_since_nobody_takes_any_time():
    with pytest.raises(InvalidPolicy, match=r"time_limit_s.*no response times"):
        Rules.of(replace(BASE, time_limit_s=60))


def test_the_sprt_errs_at_the_ends_of_its_region_no_more_often_than_it_says():
    policy = replace(
        ALONE,
        classification=Classification.sprt,
        criterion=Criterion.maximum_information,
        indifference=0.4,
        alpha=0.1,
        beta=0.05,
        maximum_length=400,
    )
    pool = make_pool(400, a=np.full(400, 1.5), b=np.linspace(-1.0, 1.0, 400), c=np.zeros(400))
    sittings = simulate(pool, Rules.of(policy), np.repeat([-0.4, 0.4], 2000), seed=4, cut=0.0)
    low, high = sittings.decision[:2000], sittings.decision[2000:]
    assert 0.03 < (low == 1).mean() < 0.1 + 0.015
    assert 0.01 < (high == 0).mean() < 0.05 + 0.012
    assert set(sittings.stop.tolist()) == {STOPS.index(StopReason.classified)}


def test_the_outcomes_are_those_that_the_policy_decided():
    policy = replace(STOPPING["sprt"], alpha=0.4, beta=0.4)
    theta = Grid().abilities(400, 0)
    sittings = simulate(bank(), Rules.of(policy), theta, seed=4, cut=1.5)
    summary = report(bank(), sittings, cut=1.5).summary
    against = (sittings.decision == 1) != (sittings.estimate >= 1.5)
    assert against.any()  # the likelihood ratio may be clear while the prior still holds the estimate back
    assert summary["decided_by"] == "policy"
    assert summary["wrong_pass"] == ((sittings.decision == 1) & (theta < 1.5)).mean()
    assert sum(summary[name] for name in ("accuracy", "wrong_pass", "wrong_fail", "undecided")) == pytest.approx(1.0)


def test_who_answered_fewer_than_the_minimum_is_not_decided():
    policy = replace(STOPPING["confidence_interval"], minimum_length=9)
    sittings, found = differences(make_pool(**ODD["runs out"]), policy)
    assert found == []
    assert report(make_pool(8), sittings, cut=0.2).summary["undecided"] == 1.0


def test_spreading_criteria_spread_exposure():
    pool, theta = bank(200), Normal().abilities(500, seed=2)
    squares = {}
    for criterion in (Criterion.maximum_information, Criterion.progressive, Criterion.a_stratified, Criterion.random):
        sittings = simulate(pool, Rules.of(replace(ALONE, criterion=criterion)), theta, seed=2)
        squares[criterion] = report(pool, sittings, cut=0.0).summary["exposure_chi_square"]
    assert squares[Criterion.random] < squares[Criterion.progressive] < squares[Criterion.maximum_information]
    assert squares[Criterion.a_stratified] < squares[Criterion.maximum_information]


def test_every_part_of_a_policy_is_simulated_or_known_to_be_without_effect():
    names = {field.name for field in fields(Policy)}
    assert names >= SIMULATED | WITHOUT_EFFECT
    assert not SIMULATED & WITHOUT_EFFECT
    assert set(rules.CRITERIA) <= set(Criterion)
