"""How many items a sitting can have, where enemies keep each other out."""

from collections.abc import Iterator, Sequence

from engine.pool import Pool
from engine.selection.policy import Classification, Policy


def sure_length(policy: Policy) -> int:
    """Items that every sitting is to have: the maximum where nothing ends it earlier, else the minimum."""
    ways = (policy.standard_error, policy.change_of_estimate, policy.minimum_information, policy.time_limit_s)
    ends_early = any(way is not None for way in ways) or policy.classification is not Classification.none
    if policy.maximum_length is None or ends_early:
        return max(1, policy.minimum_length)
    return policy.maximum_length


def sitting_sizes(pool: Pool) -> tuple[int, int]:
    """Items that any sitting can have before none is left, and that no sitting can exceed.

    Without enemies both are the pool's size. A sitting that has run out has, of each group of items tied by enmity, at
    least the group's size over 1 + its largest number of enemies; and it can't have both of any pair.
    """
    tied = sorted(pool.enemies_of)
    least = most = len(pool) - len(tied)
    for group in groups(pool, tied):
        largest = max(pool.enemies_of[item].size for item in group)
        least += -(-len(group) // (1 + largest))
        most += len(group) - pairs(pool, group)
    return least, most


def groups(pool: Pool, tied: Sequence[int]) -> Iterator[list[int]]:
    """Items that are each other's enemies, or enemies' enemies, and so on."""
    left = set(tied)
    while left:
        group, edge = [], [left.pop()]
        while edge:
            item = edge.pop()
            group.append(item)
            near = left.intersection(pool.enemies_of[item].tolist())
            left -= near
            edge.extend(near)
        yield sorted(group)


def pairs(pool: Pool, group: Sequence[int]) -> int:
    """Pairs of enemies without an item in common, at least half of as many as there can be."""
    paired: set[int] = set()
    for item in group:
        free = [other for other in pool.enemies_of[item].tolist() if other not in paired]
        if item not in paired and free:
            paired |= {item, free[0]}
    return len(paired) // 2
