"""Which metrics exist: an immutable table, built from rules, series and kinds. Pure."""
