import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.irt import NODES, information, normal_log_prior, posterior
from engine.selection.criteria import posterior_information, table_weights
from tests.factories.pools import make_pool

ROOT = Path(__file__).parents[3]
POOL = make_pool(500, seed=4)


@pytest.mark.parametrize("spread", [1.0, 0.4, 0.15])
def test_the_score_is_the_information_averaged_over_the_posterior(spread):
    probabilities = posterior(normal_log_prior(0.35, spread))
    exact = probabilities @ information(NODES, POOL.a, POOL.b, POOL.c, POOL.d)
    scores = posterior_information(POOL, probabilities, POOL.span(None))
    assert scores == pytest.approx(exact, rel=0.025)
    assert exact[scores.argmax()] > 0.995 * exact.max()


def test_a_posterior_between_two_nodes_of_the_table_still_finds_the_item_for_it():
    pool = make_pool(3, objectives=1, a=[2.0, 2.0, 2.0], b=[-1.0, 0.1, 1.0])
    scores = posterior_information(pool, (abs(NODES - 0.1) < 0.01).astype(float), pool.span(None))
    assert scores.argmax() == 1


@pytest.mark.parametrize("spread", [1.0, 0.3, 0.05])
def test_the_weights_of_the_table_are_probabilities_without_subnormal_numbers(spread):
    weights = table_weights(posterior(normal_log_prior(0.42, spread)))
    assert weights.sum() == pytest.approx(1.0, abs=1e-6)
    assert weights[weights > 0.0].min() >= 1e-12


def test_an_item_scores_the_same_in_every_slice_of_the_pool():
    probabilities = posterior(normal_log_prior(-0.5, 0.3))
    whole = posterior_information(POOL, probabilities, slice(0, 500))
    for start, stop in [(0, 1), (1, 130), (127, 129), (255, 500), (499, 500), (40, 40)]:
        assert (posterior_information(POOL, probabilities, slice(start, stop)) == whole[start:stop]).all()


def test_the_scores_are_the_callers_to_change():
    probabilities = posterior(normal_log_prior())
    posterior_information(POOL, probabilities, POOL.span(None))[:] = -1.0
    assert (posterior_information(POOL, probabilities, POOL.span(None)) > 0.0).all()


def test_a_wide_posterior_prefers_the_broad_item_and_a_narrow_one_the_sharp_item():
    pool = make_pool(2, objectives=1, a=[6.0, 1.4], b=[0.0, 0.0], c=[0.0, 0.0])
    narrow = posterior_information(pool, posterior(normal_log_prior(0.0, 0.2)), pool.span(None))
    off = posterior_information(pool, posterior(normal_log_prior(1.5, 0.3)), pool.span(None))
    assert narrow[0] > narrow[1]
    assert off[1] > off[0]


SCRIPT = """
import hashlib
from engine.irt import normal_log_prior, posterior
from engine.selection.criteria import posterior_information
from tests.factories.pools import make_pool
for size in (10_003, 20_003, 30_007):
    pool = make_pool(size, objectives=1)
    scores = posterior_information(pool, posterior(normal_log_prior(0.2, 0.3)), pool.span(None))
    print(size, hashlib.sha256(scores.tobytes()).hexdigest())
"""


def test_the_number_of_threads_changes_no_bit():
    outputs = set()
    for threads in ("1", "2", "3"):
        environment = os.environ | {"OPENBLAS_NUM_THREADS": threads}
        command = [sys.executable, "-c", SCRIPT]
        outputs.add(subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True).stdout)
    assert len(outputs) == 1
