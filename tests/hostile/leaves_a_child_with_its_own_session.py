"""Ends as it should and leaves a child running in a session of its own."""

import subprocess
import sys

from _wire import MARK, greet, serve

subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", MARK], start_new_session=True)
greet()
serve()
