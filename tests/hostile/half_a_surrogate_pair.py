"""Answers with a text that ends in the middle of an emoji, as JSON writes it and no UTF-8 can hold it."""

from _wire import greet, read, send, serve

greet()
send(id=read()["id"], result={"returned": "box \ud83d"})
serve()
