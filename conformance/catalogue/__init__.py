"""The rules as data: load, lint, join with their proofs, fingerprint and diff."""
