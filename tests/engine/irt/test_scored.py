import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.irt import (
    NODES,
    ScoredModel,
    estimate,
    evidence,
    graded_response,
    interpolated,
    log_likelihood,
    nominal,
    normal_log_prior,
    partial_credit,
)

slopes = st.floats(0.05, 4.0)
steps = st.lists(st.floats(-4.0, 4.0), min_size=1, max_size=5).map(tuple)
absurd = st.floats(-1e6, 1e6)


def thresholds(values):
    return tuple(float(value) for value in np.sort(values) + 0.1 * np.arange(len(values)))


def models(a, places):
    return ScoredModel.partial_credit(a, places), ScoredModel.graded(a, thresholds(places))


def test_evidence_is_the_curve_of_the_category():
    gpcm, grm = models(1.2, (-0.5, 0.3, 0.9))
    a, b = np.array([1.2]), np.array([gpcm.places])
    options = ScoredModel.nominal({"x": (1.0, 0.2), "y": (-0.4, 0.0), "z": (0.1, -0.3)})
    known = nominal(NODES, np.array([options.slopes]), np.array([options.places]))
    for model, categories in (
        (gpcm, partial_credit(NODES, a, b)),
        (grm, graded_response(NODES, a, np.array([grm.places]))),
        (options, known),
    ):
        curves = np.stack([evidence(model, k) for k in range(model.categories)], axis=-1)
        np.testing.assert_array_equal(curves, categories.log_probability[:, 0])
        np.testing.assert_allclose(np.exp(curves).sum(axis=-1), 1.0, atol=1e-12)


@given(slopes, st.floats(-4.0, 4.0), st.booleans())
def test_one_step_is_the_two_parameter_logistic(a, b, right):
    for model in models(a, (b,)):
        np.testing.assert_allclose(evidence(model, int(right)), log_likelihood(right, a, model.places[0]), atol=1e-10)


@given(slopes, steps, st.lists(st.integers(0, 1), max_size=6))
def test_more_points_never_lower_the_estimate(a, places, before):
    for model in models(a, places):
        start = normal_log_prior() + sum(evidence(model, k) for k in before)
        thetas = [estimate(start + evidence(model, k)).theta for k in range(model.categories)]
        assert (np.diff(thetas) > -1e-12).all()


@given(absurd, st.lists(absurd, min_size=1, max_size=4))
def test_evidence_is_finite_and_at_most_zero_for_absurd_parameters(a, places):
    a = a or 1.0
    ascending = tuple(np.unique(places).tolist()) if a > 0 else tuple(np.unique(places)[::-1].tolist())
    options = {str(place): (a * (-1) ** place, number) for place, number in enumerate([*places, a])}
    for model in (
        ScoredModel.partial_credit(a, tuple(places)),
        ScoredModel.graded(a, ascending),
        ScoredModel.nominal(options),
    ):
        for category in range(model.categories):
            curve = evidence(model, category)
            assert np.isfinite(curve).all()
            assert (curve <= 0.0).all()
            assert np.isfinite(estimate(normal_log_prior() + 300 * curve)).all()


def test_evidence_can_not_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        evidence(ScoredModel.partial_credit(1.0, (0.0,)), 1)[0] = 1.0


@pytest.mark.parametrize("category", [-1, 3])
def test_a_category_that_the_item_lacks_is_refused(category):
    with pytest.raises(ValueError, match=f"category {category}: 0 to 2 expected"):
        evidence(ScoredModel.partial_credit(1.0, (0.0, 1.0)), category)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ScoredModel.partial_credit(np.nan, (0.0,)),
        lambda: ScoredModel.partial_credit(1.0, ()),
        lambda: ScoredModel.graded(1.0, (1.0, 0.0)),
        lambda: ScoredModel.nominal({"x": (1.0, np.inf)}),
        lambda: ScoredModel.nominal({}),
    ],
)
def test_a_model_of_unusable_numbers_is_refused(make):
    with pytest.raises(ValueError, match=r"expected|ascend"):
        make()


@given(st.floats(-7.0, 7.0), slopes, st.floats(-3.0, 3.0), st.booleans())
def test_a_curve_between_its_nodes_is_nearly_itself(theta, a, b, right):
    found = interpolated(log_likelihood(right, a, b), np.array([theta]))
    exact = log_likelihood(right, a, b, nodes=np.array([theta]))
    outside = max(abs(theta) - 6.0, 0.0)
    assert found == pytest.approx(exact, abs=0.0004 * a**2 + a * outside + 1e-12)


def test_a_curve_keeps_its_values_at_the_nodes_and_never_gets_above_certainty():
    curve = np.minimum(8.0 * (NODES - 5.9), 0.0) - 0.1
    np.testing.assert_allclose(interpolated(curve, NODES.copy()), curve, atol=1e-12)
    steep = 8.0 * (NODES - 6.05)
    assert interpolated(steep, np.array([6.0, 7.0]))[1] == 0.0
    many = interpolated(np.stack([curve, steep]), np.array([[0.0, 1.05], [2.0, 6.0]]))
    np.testing.assert_allclose(many[1], 8.0 * (np.array([2.0, 6.0]) - 6.05))
