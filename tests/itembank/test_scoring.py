from hypothesis import given
from hypothesis import strategies as st

from itembank.scoring import category, score

options = st.integers(0, 9)
some = st.sets(options, min_size=1)


@given(some, some)
def test_a_score_is_a_share_and_full_only_for_exactly_the_keys(selected, keys):
    found = score(selected, keys)
    assert 0.0 <= found.score <= 1.0
    assert (found.score == 1.0) == found.correct == (selected == keys)


@given(some, some, options)
def test_a_right_option_never_costs_and_a_wrong_one_never_pays(selected, keys, other):
    change = score(selected | {other}, keys).score - score(selected, keys).score
    assert change >= 0.0 if other in keys else change <= 0.0


@given(some, some)
def test_a_score_says_how_many_points_it_was(selected, keys):
    points = max(0, len(selected & keys) - len(selected - keys))
    assert category(score(selected, keys).score, len(keys) + 1) == points


def test_choosing_everything_does_not_pay():
    assert score(range(6), range(3)).score == 0.0
