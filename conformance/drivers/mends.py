"""What an adapter's author does about each thing the protocol does not allow: one line each."""

from __future__ import annotations

from conformance.drivers.protocol import PROTOCOL_VERSION, UNSUPPORTED

PAGE = "docs/protocol.md"
"""Where every message is described; `bridge-conformance spec protocol` prints it too."""

NOT_UTF8 = "write JSON as UTF-8 bytes, whatever the locale says (in Python: sys.stdout.buffer)"
NOT_JSON = "write nothing but messages to standard output: banners, logs and prints belong to standard error"
NOT_A_LITERAL = 'send values that JSON lacks as tags, such as {"$": "NaN"}'
HALF_A_PAIR = 'send a text that holds half a surrogate pair as the tag {"$": "escaped", "text": …}'
TOO_DEEP = 'send a value that holds itself as the tag {"$": "cycle"}'
NOT_A_MESSAGE = f"send one JSON-RPC 2.0 object a line, with the members that {PAGE} names and no others"
TOO_LONG = "end every message with a line feed, and send a text over 1 MiB as its size, digest, head and tail"
NOT_READ = "read standard input all the time, in a task or thread of its own, also while something else is awaited"
OPEN = "keep standard input and output open until standard input ends, and end then"
SEQ = "number every message you send, answers too, with a seq that rises"
EITHER = "send either a request (id and method) or an answer (id, and result or error), never both"
ID = "give each open request an id of its own, a number or a text"
UNREADABLE = "read UTF-8 line by line, up to the limit you declared; split lines at the line feed alone"
ANSWER_ONCE = "answer each request once, with the id it came with"
CAPABILITY = "put the name of what is lacking into error.data.capability"
LACK = f"answer what you lack with the error {UNSUPPORTED}, and put its name into error.data.capability"
OUTCOME = "this is a fault of the adapter, not of a rule: what a package throws belongs into the outcome"
SHAPE = f"send exactly the fields that {PAGE} names for this message, in camelCase"
METHOD = f"ask only what {PAGE} lists for adapters; this suite speaks protocol version {PROTOCOL_VERSION}"
FLOOD = "note each thing once, when it happens; do not poll or log by notes"
