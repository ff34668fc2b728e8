"""The bank: what items say, how they live, and every table and query of the product."""
