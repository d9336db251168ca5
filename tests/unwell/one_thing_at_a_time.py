"""Reads nothing but its answer while it waits for the model."""

import json
import sys

from _body import Adapter


class Serial(Adapter):
    def prompt(self, text):
        super().prompt(text)
        waiting = []
        for line in sys.stdin.buffer:
            if "method" in json.loads(line):
                waiting.append(line)
                continue
            self.take(line)
            break
        for line in waiting:
            self.take(line)


Serial().run()
