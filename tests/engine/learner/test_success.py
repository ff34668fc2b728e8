import json

import numpy as np
import pytest

from engine.learner.success import FEATURES, SuccessModel, features

MODEL = SuccessModel(0.2, tuple(np.linspace(-1.0, 1.0, len(FEATURES)).tolist()), 1000)


def row(ability=0.0, difficulty=0.0, **changes):
    history = {f"{what}_{kind}": 0 for what in ("objective", "item") for kind in ("right", "wrong")}
    return features(ability, difficulty, **(history | {"objective_gap": np.nan, "item_gap": np.nan} | changes))


def test_features_stand_in_the_documented_order():
    rows = row(0.5, -0.3, objective_right=3, objective_wrong=1, item_right=1, objective_gap=np.e - 1.0, item_gap=0.0)
    named = dict(zip(FEATURES, rows[0].tolist(), strict=True))
    assert named == pytest.approx(
        {
            "ability": 0.5,
            "difficulty": -0.3,
            "log_objective_right": np.log(4.0),
            "log_objective_wrong": np.log(2.0),
            "log_item_right": np.log(2.0),
            "log_item_wrong": 0.0,
            "objective_is_known": 1.0,
            "log_objective_gap": 1.0,
            "item_is_known": 1.0,
            "log_item_gap": 0.0,
        }
    )


def test_never_met_is_not_the_same_as_met_just_now():
    assert row()[0, FEATURES.index("item_is_known")] == 0.0
    assert row(item_gap=0.0)[0, FEATURES.index("item_is_known")] == 1.0
    assert np.isfinite(row()).all()


def test_many_candidates_share_one_learners_values():
    rows = row(0.4, np.array([-1.0, 0.0, 1.0]))
    assert rows.shape == (3, len(FEATURES))
    assert (rows[:, 0] == 0.4).all()


def test_a_prediction_is_the_logistic_of_the_weighted_sum():
    rows = row(0.5, np.array([1.0, -2.0]), item_right=2)
    log_odds = 0.2 + rows @ np.array(MODEL.coefficients)
    assert MODEL.predict(rows) == pytest.approx(1.0 / (1.0 + np.exp(-log_odds)))
    assert np.isfinite(MODEL.predict(rows * 1e300)).all()


def test_a_model_survives_json():
    assert SuccessModel.from_json(json.loads(json.dumps(MODEL.to_json()))) == MODEL


def test_a_model_with_other_features_is_refused():
    data = MODEL.to_json()
    data["coefficients"]["shoe_size"] = data["coefficients"].pop("ability")
    with pytest.raises(ValueError, match="shoe_size"):
        SuccessModel.from_json(data)
    with pytest.raises(ValueError, match="10 finite coefficients"):
        SuccessModel(0.0, (1.0,), 10)
