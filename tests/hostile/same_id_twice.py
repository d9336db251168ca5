"""Uses the id of a request of its own that is still open."""

from _wire import NATIVE, greet, line, raw, read, serve

greet()
read()
raw(line(id="a", method="native.execute", params=NATIVE) + line(id="a", method="native.execute", params=NATIVE))
serve()
