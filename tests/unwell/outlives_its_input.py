"""Goes on when its input has ended."""

import time

from _body import Adapter

Adapter().run()
time.sleep(600)
