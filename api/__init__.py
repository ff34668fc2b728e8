"""HTTP and command line. It parses, calls the rooms below and dumps; no rule of the domain lives here."""
