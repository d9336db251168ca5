"""Writes every byte of a message by itself, which is allowed."""

from _wire import greet, line, raw, read

greet()
while True:
    for byte in line(id=read()["id"], result={"returned": "é"}):
        raw(bytes([byte]))
