"""Says that it lacks something, and not what."""

from _wire import greet, read, send, serve

greet()
send(id=read()["id"], error={"code": -32050, "message": "cannot"})
serve()
