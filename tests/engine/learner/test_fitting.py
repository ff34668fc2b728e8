import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.irt import NODES, log_probabilities, normal_log_prior, posterior
from engine.learner.fitting import LEAST_ANSWERS, assess, fit, history
from engine.learner.success import FEATURES, features


def difficulties(item, right, items):
    """Rasch difficulties (I,) of items for a learner of ability 0: log-odds of wrong, one answer of each kind added."""
    n, wins = np.bincount(item, minlength=items), np.bincount(item, right, items)
    return np.log((n - wins + 1.0) / (wins + 1.0))


def abilities_before(learner, item, right, counts, b):
    """Rasch EAP (N,) of each learner just before each answer, from answers that count only; the log is in order."""
    log_right, log_wrong = (table.T for table in log_probabilities(NODES, 1.0, b))
    told = np.where(right[:, None], log_right[item], log_wrong[item]) * counts[:, None]
    so_far = np.cumsum(told, axis=0) - told
    start = np.searchsorted(learner, learner)
    return posterior(so_far - so_far[start] + normal_log_prior()) @ NODES


@pytest.fixture(scope="module")
def spanish(shared):
    """Features, outcomes and the split of the log: test learners are those whose number is divisible by 5."""
    with gzip.open(shared / "data" / "responses" / "spanish_wcrp_37students.csv.gz", "rt") as file:
        log = np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.int64)
    learner, time, item, skill, right = log[np.lexsort((log[:, 1], log[:, 0]))].T
    right, held_out = right == 1, learner % 5 == 0
    of_skill, of_item = (history(learner, thing, right, time.astype(float)) for thing in (skill, item))
    first = np.isnan(of_item.gap)
    b = difficulties(item[first & ~held_out], right[first & ~held_out], 409)
    rows = features(
        abilities_before(learner, item, right, first, b),
        b[item],
        objective_right=of_skill.right,
        objective_wrong=of_skill.wrong,
        objective_gap=of_skill.gap,
        item_right=of_item.right,
        item_wrong=of_item.wrong,
        item_gap=of_item.gap,
    )
    return rows, right, held_out


def test_held_out_learners_of_the_spanish_log_are_forecast_at_least_as_well_as_by_best_lr(spanish):
    rows, right, held_out = spanish
    model = fit(rows[~held_out], right[~held_out])
    found = assess(right[held_out], model.predict(rows[held_out]))
    assert found.auc >= 0.862
    assert found.brier < 0.12
    assert found.observed == pytest.approx(found.forecast, abs=0.06)


def test_without_what_came_before_the_forecast_is_far_worse(spanish):
    rows, right, held_out = spanish
    rows = np.where(np.isin(FEATURES, ["ability", "difficulty"]), rows, 0.0)
    model = fit(rows[~held_out], right[~held_out])
    assert assess(right[held_out], model.predict(rows[held_out])).auc < 0.78


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans(), st.floats(0.0, 9.0)), min_size=1, max_size=30
    )
)
def test_history_is_what_counting_by_hand_finds(log):
    learner, thing, right, time = (np.array(column) for column in zip(*log, strict=True))
    found = history(learner, thing, right, time)
    for i in range(learner.size):
        same = (learner == learner[i]) & (thing == thing[i])
        earlier = same & ((time < time[i]) | ((time == time[i]) & (np.arange(learner.size) < i)))
        assert found.right[i] == right[earlier].sum()
        assert found.wrong[i] == (~right[earlier]).sum()
        expected = time[i] - time[earlier].max() if earlier.any() else np.nan
        assert found.gap[i] == pytest.approx(expected, nan_ok=True)


def test_known_weights_are_found_again():
    rng = np.random.default_rng(0)
    count = 40_000
    right_before, wrong_before = rng.integers(0, 6, (2, count))
    gap = np.where(right_before + wrong_before > 0, rng.exponential(48.0, count), np.nan)
    met = rng.integers(0, 2, count)
    rows = features(
        rng.normal(size=count),
        rng.normal(size=count),
        objective_right=right_before,
        objective_wrong=wrong_before,
        objective_gap=gap,
        item_right=met,
        item_wrong=rng.integers(0, 2, count),
        item_gap=np.where(met > 0, rng.exponential(24.0, count), np.nan),
    )
    truth = np.array([1.0, -1.0, 0.5, -0.4, 1.2, 0.3, 0.2, -0.1, 0.6, -0.3])
    right = rng.random(count) < 1.0 / (1.0 + np.exp(-(rows @ truth - 0.2)))
    model = fit(rows, right)
    assert model.coefficients == pytest.approx(truth, abs=0.25)
    assert model.coefficients[:2] == pytest.approx(truth[:2], abs=0.05)
    assert model.answers == count


def test_too_little_to_learn_from_is_refused():
    rows, right = np.zeros((LEAST_ANSWERS, len(FEATURES))), np.arange(LEAST_ANSWERS) % 2 == 0
    with pytest.raises(ValueError, match="500 of both kinds expected"):
        fit(rows[1:], right[1:])
    with pytest.raises(ValueError, match="500 of them right"):
        fit(rows, np.ones(LEAST_ANSWERS, dtype=bool))


def test_a_feature_that_never_varies_gets_no_weight():
    rng = np.random.default_rng(1)
    rows = np.zeros((2000, len(FEATURES)))
    rows[:, 0] = rng.normal(size=2000)
    model = fit(rows, rng.random(2000) < 1.0 / (1.0 + np.exp(-rows[:, 0])))
    assert model.coefficients[1:] == (0.0,) * (len(FEATURES) - 1)


def test_an_assessment_is_that_of_the_forecasts():
    right, forecast = np.array([True, False, True, False]), np.array([0.9, 0.1, 0.6, 0.7])
    found = assess(right, forecast)
    assert found.auc == 0.75
    assert found.brier == pytest.approx((0.01 + 0.01 + 0.16 + 0.49) / 4)
    assert found.log_loss == pytest.approx(-np.log([0.9, 0.9, 0.6, 0.3]).mean())
