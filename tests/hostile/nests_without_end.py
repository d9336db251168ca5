"""Answers with lists in lists, a hundred thousand deep."""

from _wire import greet, line, raw, read, serve

greet()
deep = b"[" * 100_000 + b"]" * 100_000
raw(line(id=read()["id"], result={"returned": "@"}).replace(b'"@"', deep))
serve()
