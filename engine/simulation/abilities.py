"""True abilities of simulated examinees: drawn from a normal distribution, or fixed points for conditional results."""

import math
import re
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from engine.irt.types import FloatArray
from engine.simulation.chance import ABILITY, uniforms

NUMBER = r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*"
NORMAL = re.compile(rf"normal\({NUMBER},{NUMBER}\)")
POINTS = re.compile(rf"grid(?:\({NUMBER},{NUMBER},{NUMBER}\))?")
LOW, HIGH, STEP = -3.0, 3.0, 0.5  # logits, of a grid without bounds
MOST_POINTS = 1001
EXPECTED = "normal(MEAN,SD), grid or grid(LOW,HIGH,STEP) expected"


@dataclass(frozen=True, slots=True)
class Normal:
    """Abilities from a normal distribution; an examinee's is the same however many others there are."""

    mean: float = 0.0
    sd: float = 1.0

    def abilities(self, count: int, seed: int) -> FloatArray:
        return np.asarray(self.mean + self.sd * ndtri(uniforms(seed, np.arange(count), ABILITY)))


@dataclass(frozen=True, slots=True)
class Grid:
    """The same number of examinees at each point, one more at the first points where the number does not divide."""

    low: float = LOW
    high: float = HIGH
    step: float = STEP

    @property
    def points(self) -> FloatArray:
        count = 1 + math.floor((self.high - self.low) / self.step + 1e-9)
        return np.asarray(self.low + self.step * np.arange(count), dtype=np.float64)

    def abilities(self, count: int, seed: int) -> FloatArray:
        """The points in turn; nothing is drawn."""
        return np.resize(self.points, count)


def parsed(text: str) -> Normal | Grid:
    """The distribution that a text such as `normal(0,1)` describes.  Raises ValueError that says what is expected.

    >>> parsed("grid(-1,1,0.5)").points
    array([-1. , -0.5,  0. ,  0.5,  1. ])
    """
    if found := NORMAL.fullmatch(text.strip()):
        normal = Normal(*map(float, found.groups()))
        if not (math.isfinite(normal.mean) and 0.0 < normal.sd < math.inf):
            raise ValueError(f"{text}: a finite mean and a finite standard deviation above 0 expected")
        return normal
    if found := POINTS.fullmatch(text.strip()):
        grid = Grid() if found.group(1) is None else Grid(*map(float, found.groups()))
        if not (math.isfinite(grid.low) and grid.low <= grid.high < math.inf and 0.0 < grid.step < math.inf):
            raise ValueError(f"{text}: low to high in steps above 0 expected")
        if (grid.high - grid.low) / grid.step > MOST_POINTS - 1:
            raise ValueError(f"{text}: at most {MOST_POINTS} points expected")
        return grid
    raise ValueError(f"{text}: {EXPECTED}")
