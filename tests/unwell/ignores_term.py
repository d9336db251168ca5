"""Does not end when it is told to."""

import signal

from _body import Adapter

signal.signal(signal.SIGTERM, signal.SIG_IGN)
Adapter().run()
