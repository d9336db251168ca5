"""Notes without end, and never answers."""

from _wire import greet, line, raw, read

greet()
read()
while True:
    raw(b"".join(line(method="trace", params={"kind": "notice", "data": {"text": "again"}}) for _ in range(100)))
