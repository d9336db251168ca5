"""Tells, before any verdict, whether an implementation can be talked to, and how to mend what stands in the way."""
