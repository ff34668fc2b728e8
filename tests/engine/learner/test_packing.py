import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.learner.packing import pack, unpack
from engine.learner.state import Prior, initial, updated


@given(st.integers(1, 12), st.lists(st.tuples(st.integers(0, 99), st.booleans(), st.floats(-3.0, 3.0)), max_size=8))
def test_a_state_comes_back_to_the_last_digit(objectives, answers):
    state = initial(objectives, Prior())
    for objective, right, b in answers:
        state = updated(state, objective % objectives, right, 1.3, b, 0.2)
    back = unpack(pack(state))
    assert (back.mean == state.mean).all()
    assert (back.covariance == state.covariance).all()
    assert (back.answers == state.answers).all()
    assert pack(back) == pack(state)


def test_the_size_is_the_documented_one():
    assert [len(pack(initial(count, Prior()))) for count in (1, 30)] == [47, 4339]


@pytest.mark.parametrize(
    "data", [b"", b"\x02\x01\x00", pack(initial(2, Prior()))[:-1], pack(initial(2, Prior())) + b"0"]
)
def test_other_bytes_are_refused(data):
    with pytest.raises(ValueError, match="bytes"):
        unpack(data)


def test_many_learners_are_not_one_state():
    with pytest.raises(ValueError, match="one learner's state expected"):
        pack(initial(2, Prior(), learners=(3,)))


def test_an_unpacked_state_can_be_updated():
    assert np.isfinite(updated(unpack(pack(initial(2, Prior()))), 0, True, 1.0, 0.0).mean).all()
