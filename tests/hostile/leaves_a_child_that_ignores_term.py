"""Has to be ended, and has a child that ignores TERM."""

import subprocess
import sys

from _wire import MARK, greet, sleep

program = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)"
subprocess.Popen([sys.executable, "-c", program, MARK], stdout=subprocess.PIPE).stdout.readline()
greet()
sleep()
