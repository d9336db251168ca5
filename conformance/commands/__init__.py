"""Commands that belong to no other part of the suite."""
