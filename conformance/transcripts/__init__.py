"""Stages kept as files, and judged again without the implementation."""

from __future__ import annotations
