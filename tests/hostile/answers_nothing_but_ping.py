"""Is alive and idle: it answers a ping and nothing else."""

from _wire import greet, read, send

greet()
while True:
    message = read()
    if message["method"] == "ping":
        send(id=message["id"], result={})
