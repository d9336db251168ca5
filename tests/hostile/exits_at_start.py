"""Says why it cannot run, and exits before anyone asked."""

import sys

print("no licence found", file=sys.stderr)
sys.exit(7)
