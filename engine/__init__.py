"""The adaptive engine: item response theory, item pools, the choice of the next item and what is built on them."""
