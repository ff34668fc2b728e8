"""Array types of the numerical modules; shapes are in the docstrings."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
TableArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]
IndexArray = npt.NDArray[np.int32]
BoolArray = npt.NDArray[np.bool_]
Real = FloatArray | float
