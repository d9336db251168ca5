"""Is killed in the middle of a request, as by the kernel when memory is short."""

import os
import signal

from _wire import greet, read

greet()
read()
os.kill(os.getpid(), signal.SIGKILL)
