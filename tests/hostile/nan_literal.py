"""Writes NaN where JSON has no such thing."""

from _wire import greet, read, send, serve

greet()
send(id=read()["id"], result={"returned": float("nan")})
serve()
