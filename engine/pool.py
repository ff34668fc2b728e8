"""Pool: an exam's servable items with their parameters as read-only arrays, the one thing a process caches.

Items stand in the order of their objectives, so that the items of one objective are a slice and choosing among them
copies nothing. A *pool index* is a place in these arrays; it never leaves the process, item version ids do.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from engine.irt import NODES, ScoredModel, information
from engine.irt.types import BoolArray, FloatArray, IndexArray, IntArray, TableArray

PAIRS = ("enemies", "siblings")
TABLE_NODES = NODES[::2]

# Rows of the information table per matrix-vector product. 128 x 61 numbers stay below the size from which OpenBLAS
# splits a product between threads; a split product rounds differently, and a replay must not depend on the threads.
BLOCK = 128

# The table keeps to numbers whose products with probabilities are neither infinite nor subnormal in float32. Only an
# absurd discrimination gets above the first; below the second, where nobody would serve the item, it holds 0.
MOST_INFORMATION, LEAST_INFORMATION = 1e30, 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Pool:
    """One immutable version of an exam's servable items; I items, K leaf objectives, M enemy pairs.

    version : the pool's id;  items, item_versions : (I,), ids; an item may have a scored and a pretest version
    a, b, c, d : (I,), 4PL parameters in the logistic metric
    objective : (I,), index into the K objectives, never decreasing
    objective_codes : K codes such as `1.3`;  objective_weights : (K,), blueprint weights, of any sum
    domain : (K,), index into the domain_codes; without, each objective is a domain of its own
    enemies : (M, 2), pairs of pool indices that must not meet in one sitting, each pair given once or in both orders
    siblings : (M', 2), pairs that ask for the same in two ways;  pretest : (I,), served unscored
    scored : the models of items with scored options, by pool index. Ability is estimated with them; choosing and
    simulating go by a, b, c, d, which every item has: what it tells of right and wrong
    Raises ValueError naming the field, the place and the value.  A pool of no items is allowed: its len is 0.
    """

    version: int
    items: IntArray
    item_versions: IntArray
    a: FloatArray
    b: FloatArray
    c: FloatArray
    d: FloatArray
    objective: IndexArray
    objective_codes: tuple[str, ...]
    objective_weights: FloatArray
    domain: IndexArray = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    domain_codes: tuple[str, ...] = ()
    enemies: IndexArray = field(default_factory=lambda: np.empty((0, 2), dtype=np.int32))
    siblings: IndexArray = field(default_factory=lambda: np.empty((0, 2), dtype=np.int32))
    pretest: BoolArray = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    scored: Mapping[int, ScoredModel] = field(default_factory=dict)
    index_of_version: Mapping[int, int] = field(init=False)  # item version id to pool index
    objective_start: IntArray = field(init=False)  # (K + 1,): objective k is items start[k] to start[k + 1]
    occupied: IntArray = field(init=False)  # objectives that have items
    enemies_of: Mapping[int, IndexArray] = field(init=False)  # pool index to its enemies, where it has any
    siblings_of: Mapping[int, IndexArray] = field(init=False)
    information_blocks: TableArray = field(init=False)  # (ceil(I / BLOCK), BLOCK, 61), rows beyond I are 0

    def __post_init__(self) -> None:
        for name in ("items", "item_versions"):
            self._set(name, frozen(name, getattr(self, name), np.int64, shape=(None,)))
        shape = (self.items.size,)
        self._set("item_versions", frozen("item_versions", self.item_versions, np.int64, shape=shape))
        for name in ("a", "b", "c", "d"):
            self._set(name, frozen(name, getattr(self, name), np.float64, shape=shape))
        self._set("objective", frozen("objective", self.objective, np.int32, shape=shape))
        self._set("objective_codes", tuple(self.objective_codes))
        weights = frozen("objective_weights", self.objective_weights, np.float64, shape=(len(self.objective_codes),))
        self._set("objective_weights", weights)
        codes = self.objective_codes
        if not self.domain_codes:
            self._set("domain", np.arange(len(codes), dtype=np.int32))
        self._set("domain_codes", tuple(self.domain_codes) or codes)
        self._set("domain", frozen("domain", self.domain, np.int32, shape=(len(codes),)))
        for name in PAIRS:
            self._set(name, frozen(name, getattr(self, name), np.int32, shape=(None, 2)))
        pretest = self.pretest if self.pretest.size else np.zeros(shape, dtype=np.bool_)
        self._set("pretest", frozen("pretest", pretest, np.bool_, shape=shape))
        self._set("scored", MappingProxyType(dict(self.scored)))
        check(self)
        self._set("index_of_version", {version: i for i, version in enumerate(self.item_versions.tolist())})
        starts = np.searchsorted(self.objective, np.arange(len(self.objective_codes) + 1))
        self._set("objective_start", frozen("objective_start", starts, np.int64, shape=(None,)))
        self._set("occupied", frozen("occupied", np.flatnonzero(np.diff(starts)), np.int64, shape=(None,)))
        self._set("enemies_of", neighbours(self.enemies))
        self._set("siblings_of", neighbours(self.siblings))
        self._set("information_blocks", information_blocks(self.a, self.b, self.c, self.d))

    def __len__(self) -> int:
        return int(self.items.size)

    def __repr__(self) -> str:
        return f"Pool(version={self.version}, {len(self)} items, {len(self.objective_codes)} objectives)"

    @property
    def information_table(self) -> TableArray:
        """Fisher information (I, 61) of every item at every second node of the ability grid.

        Built with the pool, not on first use: no request waits for it, and no two threads build it twice.
        """
        return self.information_blocks.reshape(-1, TABLE_NODES.size)[: len(self)]

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays and, nearly, by the look-up of item versions."""
        arrays = sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))
        return arrays + sys.getsizeof(self.index_of_version) + 2 * sys.getsizeof(2**31) * len(self)

    def parameters(self, index: int) -> tuple[float, float, float, float]:
        """a, b, c and d of one item."""
        return float(self.a[index]), float(self.b[index]), float(self.c[index]), float(self.d[index])

    def parameters_of(self, item_version: int) -> tuple[float, float, float, float]:
        """a, b, c and d of the item with this version id."""
        return self.parameters(self.index_of_version[item_version])

    def items_of(self, item_versions: Iterable[int]) -> list[int]:
        """The ids of the items that these are versions of."""
        return [int(self.items[self.index_of_version[version]]) for version in item_versions]

    def part(self, kept: BoolArray, codes: Sequence[str] = ()) -> "Pool":
        """The kept items (I,) as a pool of their own, with these objectives or all; weights keep their proportions.

        An item that is kept has one of the objectives.
        """
        places = [k for k, code in enumerate(self.objective_codes) if not codes or code in codes]
        index = np.cumsum(kept) - 1
        columns = {name: getattr(self, name)[kept] for name in ("items", "item_versions", *"abcd", "pretest")}
        pairs = {name: index[each[kept[each].all(axis=1)]] for name in PAIRS for each in (getattr(self, name),)}
        domains = sorted(set(self.domain[places].tolist()))
        return replace(
            self,
            **columns,
            **{name: each.astype(np.int32) for name, each in pairs.items()},
            objective=np.searchsorted(places, self.objective[kept]).astype(np.int32),
            objective_codes=tuple(self.objective_codes[k] for k in places),
            objective_weights=self.objective_weights[places],
            domain=np.searchsorted(domains, self.domain[places]).astype(np.int32),
            domain_codes=tuple(self.domain_codes[k] for k in domains),
            scored={int(index[place]): model for place, model in self.scored.items() if kept[place]},
        )

    def span(self, objective: int | None) -> slice:
        """The pool indices of an objective's items; of all items for None."""
        if objective is None:
            return slice(0, len(self))
        return slice(int(self.objective_start[objective]), int(self.objective_start[objective + 1]))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


def frozen(
    name: str, values: npt.ArrayLike, dtype: npt.DTypeLike, *, shape: tuple[int | None, ...]
) -> npt.NDArray[np.generic]:
    """A read-only copy with this type and shape (None: any length), or a ValueError that names the field."""
    given = np.asarray(values)
    if given.size and not np.can_cast(given.dtype, dtype, casting="same_kind"):
        raise ValueError(f"{name} holds {given.dtype}, {np.dtype(dtype)} expected")
    if given.ndim != len(shape) or any(want not in (None, have) for want, have in zip(shape, given.shape, strict=True)):
        expected = tuple("any" if want is None else want for want in shape)
        raise ValueError(f"{name} has shape {given.shape}, {expected} expected")
    copy = np.array(given, dtype=dtype, order="C")
    copy.setflags(write=False)
    return copy


def check(pool: Pool) -> None:
    """Raise ValueError for the first value that a pool must not have."""
    for name in ("a", "b", "c", "d", "objective_weights"):
        refuse(name, getattr(pool, name), ~np.isfinite(getattr(pool, name)), "finite numbers")
    refuse("c", pool.c, pool.c < 0.0, "0 or more")
    refuse("d", pool.d, pool.d > 1.0, "1 or less")
    refuse("d", pool.d, pool.d <= pool.c, "more than c")
    refuse("objective_weights", pool.objective_weights, pool.objective_weights < 0.0, "0 or more")
    count = len(pool.objective_codes)
    refuse("objective", pool.objective, (pool.objective < 0) | (pool.objective >= count), f"0 to {count - 1}")
    refuse("objective", pool.objective[1:], np.diff(pool.objective) < 0, "items sorted by objective", first=1)
    domains = len(pool.domain_codes)
    refuse("domain", pool.domain, (pool.domain < 0) | (pool.domain >= domains), f"0 to {domains - 1}")
    refuse("item_versions", pool.item_versions, repeated(pool.item_versions), "each id at most once")
    for kind in (~pool.pretest, pool.pretest):
        refuse("items", pool.items[kind], repeated(pool.items[kind]), "each id at most once, pretest or not")
    beyond = sorted(index for index in pool.scored if not 0 <= index < len(pool))
    if beyond:
        raise ValueError(f"scored has a model for {beyond[0]}: pool indices from 0 to {len(pool) - 1} expected")
    for name in PAIRS:
        pairs = getattr(pool, name)
        outside: BoolArray = np.any((pairs < 0) | (pairs >= len(pool)), axis=1)
        refuse(name, pairs, outside, f"pool indices from 0 to {len(pool) - 1}")
        refuse(name, pairs, pairs[:, 0] == pairs[:, 1], "two different items")


def refuse(name: str, values: npt.NDArray[np.generic], bad: BoolArray, expected: str, *, first: int = 0) -> None:
    """Raise ValueError for the first bad value, if there is one; `first` is the index of values[0] in its field."""
    if bad.any():
        place = int(np.argmax(bad))
        raise ValueError(f"{name}[{first + place}] is {values[place].tolist()}: {expected} expected")


def repeated(ids: IntArray) -> BoolArray:
    """True where an id came before."""
    again = np.ones(ids.shape, dtype=np.bool_)
    again[np.unique(ids, return_index=True)[1]] = False
    return again


def neighbours(pairs: IndexArray) -> dict[int, IndexArray]:
    """Each index in `pairs` (M, 2) with the ascending indices it is paired with, in either order."""
    both = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    indices, starts = np.unique(both[:, 0], return_index=True)
    found = np.split(both[:, 1], starts[1:])
    return dict(zip(indices.tolist(), found, strict=False))


def information_blocks(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> TableArray:
    """Information of all items at TABLE_NODES in blocks of BLOCK rows, the last one filled up with zeros."""
    blocks = np.zeros((-(-a.size // BLOCK), BLOCK, TABLE_NODES.size), dtype=np.float32)
    rows = blocks.reshape(-1, TABLE_NODES.size)
    for start in range(0, a.size, 8 * BLOCK):  # in pieces: the float64 intermediates stay small
        part = slice(start, start + 8 * BLOCK)
        exact = information(TABLE_NODES, a[part], b[part], c[part], d[part]).T
        exact[exact < LEAST_INFORMATION] = 0.0
        rows[start : start + len(exact)] = np.minimum(exact, MOST_INFORMATION)
    blocks.setflags(write=False)
    return blocks
