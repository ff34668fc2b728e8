from itertools import product

import numpy as np
import pytest

from engine.learner import at_least, summary


@pytest.mark.parametrize("mark", range(6))
def test_the_chance_is_the_sum_over_all_patterns(mark, rng):
    p = rng.uniform(size=(3, 4))
    patterns = np.array(list(product([0, 1], repeat=4)))
    each = np.where(patterns, p[:, None], 1.0 - p[:, None]).prod(axis=-1)
    assert at_least(p, mark) == pytest.approx(each[:, patterns.sum(axis=1) >= mark].sum(axis=-1))


def test_a_form_without_items_is_passed_only_where_nothing_is_asked():
    assert at_least(np.empty((2, 0)), 0).tolist() == [1.0, 1.0]
    assert at_least(np.empty((2, 0)), 1).tolist() == [0.0, 0.0]


def test_the_summary_orders_what_is_not_monotone():
    mean, low, high = summary(np.array([0.9, 0.1, 0.5]), np.array([0.2, 0.2, 0.6]))
    assert (mean, low, high) == pytest.approx((0.5, 0.1, 0.9))
