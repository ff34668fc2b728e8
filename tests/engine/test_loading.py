"""What a process remembers, and for how long."""

import time

from engine.loading import Recent


def test_the_value_used_longest_ago_is_forgotten_first() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.keep("a", 1)
    recent.keep("b", 2)
    recent.find("a")
    recent.keep("c", 3)
    assert [recent.find(key) for key in "abc"] == [1, None, 3]


def test_a_value_is_made_again_once_it_is_too_old() -> None:
    recent: Recent[str, int] = Recent(2, seconds=0.02)
    made = iter(range(5))
    values = [recent.get("a", lambda: next(made)), recent.get("a", lambda: next(made))]
    time.sleep(0.03)
    assert [*values, recent.get("a", lambda: next(made))] == [0, 0, 1]
