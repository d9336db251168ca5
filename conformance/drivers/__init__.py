"""Connections to implementations: one interface, in process or over stdio."""
