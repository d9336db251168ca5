"""Reports an error about no request in particular."""

from _wire import greet, read, send, serve

greet()
read()
send(id=None, error={"code": -32700, "message": "parse error"})
serve()
