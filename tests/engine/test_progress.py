"""What is known of a learner, moved on between the tables and the model."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from engine.irt import log_likelihood
from engine.learner import Prior, initial, updated
from engine.progress import Known

PRIOR = Prior()
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
ITEM = (1.3, 0.4, 0.2, 1.0)


@pytest.fixture
def stranger() -> Known:
    return Known(initial(2, PRIOR), ("1.1", "1.2"), START)


def answered(known: Known, code: str, right: bool = True, *, days: float = 0.0) -> Known:
    return known.after(code, log_likelihood(right, *ITEM), now=known.since + timedelta(days=days), prior=PRIOR)


def test_evidence_at_the_nodes_says_the_same_as_the_items_curve(stranger: Known) -> None:
    ours = answered(stranger, "1.2").state
    exact = updated(stranger.state, 1, True, *ITEM)
    np.testing.assert_allclose(ours.mean, exact.mean, atol=1e-3)
    np.testing.assert_allclose(ours.covariance, exact.covariance, atol=1e-3)


def test_what_is_known_fades_with_time_and_never_backwards(stranger: Known) -> None:
    known = answered(answered(stranger, "1.1"), "1.1", False)
    month = known.at(START + timedelta(days=30), PRIOR)
    assert month.state.covariance[0, 0] == pytest.approx(known.state.covariance[0, 0] + 30 * PRIOR.drift)
    earlier = known.at(START - timedelta(days=1), PRIOR)  # another machine's clock
    assert (earlier.state.covariance == known.state.covariance).all()


def test_an_objective_of_a_later_blueprint_joins_what_is_known(stranger: Known) -> None:
    known = answered(stranger, "1.1").after("3.1", log_likelihood(True, *ITEM), now=START, prior=PRIOR)
    assert known.codes == ("1.1", "1.2", "3.1")
    assert known.state.answers.tolist() == [1, 0, 1]
    other = known.on(("3.1", "1.1"), PRIOR)
    assert other.answers.tolist() == [1, 1]
    assert other.mean[0] == known.state.mean[0]


def test_codes_that_were_never_met_have_the_priors_deviation(stranger: Known) -> None:
    assert stranger.on(("9.9",), PRIOR).covariance.tolist() == initial(1, PRIOR).covariance.tolist()
