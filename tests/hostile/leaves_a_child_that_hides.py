"""Ends as it should and leaves a child with a session and an environment of its own."""

import subprocess
import sys

from _wire import MARK, greet, serve

command = [sys.executable, "-c", "import time; time.sleep(600)", MARK]
subprocess.Popen(command, start_new_session=True, env={})
greet()
serve()
