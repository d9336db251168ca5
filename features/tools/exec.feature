Feature: exec
  A package runs a program through the host's subprocess provider.

  Background:
    Given a package "runner" with the tool "run"

  @rule:exec.streams-and-exit-code
  Scenario Outline: Both streams and an exit code
    Given the tool "run" calls exec with ["sh", ["-c", "echo out; echo err >&2; exit <code>"]]
    When the model calls "run"
    Then exec resolved with {"stdout": "out\n", "stderr": "err\n", "code": <code>, "killed": false}

    Examples:
      | code |
      | 3    |
      | 0    |
      | 130  |
      | 255  |

  @rule:exec.output-is-told-as-it-was-written
  Scenario Outline: Ends of lines, colours and blanks
    Given the tool "run" calls exec with ["printf", ["<written>"]]
    When the model calls "run"
    Then exec resolved with {"stdout": "<told>", "code": 0}

    Examples:
      | written                               | told                          |
      | a\\\\r\\\\nb\\\\rc\\\\n               | a\\r\\nb\\rc\\n               |
      | \\\\033[31mred\\\\033[0m              | \\u001b[31mred\\u001b[0m      |
      | \\\\357\\\\273\\\\277with a mark       | \\ufeffwith a mark              |
      | \\\\n\\\\n  in the middle  \\\\n\\\\n | \\n\\n  in the middle  \\n\\n |

  @rule:exec.output-is-told-as-it-was-written @case:the-other-stream
  Scenario Outline: The same on the other stream
    Given the tool "run" calls exec with ["sh", ["-c", "printf '<written>' >&2"]]
    When the model calls "run"
    Then exec resolved with {"stderr": "<told>", "code": 0}

    Examples:
      | written                                | told                            |
      | a\\\\r\\\\nb\\\\rc\\\\n                | a\\r\\nb\\rc\\n                 |
      | \\\\033[31mred\\\\033[0m               | \\u001b[31mred\\u001b[0m        |
      | Päckchen 📦 zu früh                    | Päckchen 📦 zu früh             |
      | \\\\n\\\\n  in the middle  \\\\n\\\\n  | \\n\\n  in the middle  \\n\\n   |

  @rule:exec.no-shell @case:arguments
  Scenario: Arguments a shell would read
    Given the tool "run" calls exec with ["printf", ["<%s>", "$HOME", "~", "{a,b}", "*", "a;b", "`id`", "", " c  d "]]
    When the model calls "run"
    Then exec resolved with {"stdout": "<$HOME><~><{a,b}><*><a;b><`id`><>< c  d >", "code": 0}

  @rule:exec.no-shell @case:odd-arguments
  Scenario: Arguments of several lines, other scripts, and none
    Given the tool "run" calls exec with ["printf", ["<%s>", "--", "-n", "two\nlines", "ü 日本 📦", "'q' \"d\"", "a\\tb", ""]]
    When the model calls "run"
    Then exec resolved with {"stdout": "<--><-n><two\nlines><ü 日本 📦><'q' \"d\"><a\\tb><>", "code": 0}

  @rule:exec.no-shell @case:many-arguments
  Scenario: A hundred and fifty arguments
    Given the tool "run" calls exec with ["sh", ["-c", "echo $# $1 ${101} \"${150}\"", "sh", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22", "23", "24", "25", "26", "27", "28", "29", "30", "31", "32", "33", "34", "35", "36", "37", "38", "39", "40", "41", "42", "43", "44", "45", "46", "47", "48", "49", "50", "51", "52", "53", "54", "55", "56", "57", "58", "59", "60", "61", "62", "63", "64", "65", "66", "67", "68", "69", "70", "71", "72", "73", "74", "75", "76", "77", "78", "79", "80", "81", "82", "83", "84", "85", "86", "87", "88", "89", "90", "91", "92", "93", "94", "95", "96", "97", "98", "99", "100", "101", "102", "103", "104", "105", "106", "107", "108", "109", "110", "111", "112", "113", "114", "115", "116", "117", "118", "119", "120", "121", "122", "123", "124", "125", "126", "127", "128", "129", "130", "131", "132", "133", "134", "135", "136", "137", "138", "139", "140", "141", "142", "143", "144", "145", "146", "147", "148", "149", "the  last"]]
    When the model calls "run"
    Then exec resolved with {"stdout": "150 1 101 the  last\n", "code": 0}

  @rule:exec.no-shell @case:command
  Scenario: A command line as the command
    Given the tool "run" calls exec with ["echo hello"]
    When the model calls "run"
    Then exec resolved without success

  @rule:exec.cwd-is-respected
  Scenario: A working folder
    Given the tool "run" calls exec with ["pwd", [], {"cwd": "/"}]
    When the model calls "run"
    Then exec resolved with {"stdout": "/\n", "code": 0}

  @rule:exec.cwd-is-respected @case:relative
  Scenario: A working folder that is named from another one
    Given the tool "run" calls exec with ["pwd", [], {"cwd": "../../../../../../../../../../../../../../../.."}]
    When the model calls "run"
    Then exec resolved with {"stdout": "/\n", "code": 0}

  @rule:exec.without-cwd-the-agents-folder
  Scenario: No working folder is named
    Given an agent "main" in the folder "/usr"
    And the tool "run" calls exec with ["pwd"]
    When the model calls "run"
    Then exec resolved with {"stdout": "/usr\n", "code": 0}

  @rule:exec.without-cwd-the-agents-folder @case:after-one-with-a-folder
  Scenario: No working folder is named after one was
    Given an agent "main" in the folder "/usr"
    And the tool "run" calls exec with ["pwd", [], {"cwd": "/"}]
    And the tool "run" calls exec with ["pwd"]
    When the model calls "run"
    Then exec resolved with {"stdout": "/usr\n", "code": 0}

  @rule:exec.without-cwd-the-agents-folder @case:in-a-handler
  Scenario Outline: A handler runs a program
    Given an agent "main" in the folder "/usr"
    And the tool "run" sends the update "half way"
    And package "runner" calls exec with ["pwd"] in <event>
    When the model calls "run"
    Then exec resolved with {"stdout": "/usr\n", "stderr": "", "code": 0, "killed": false}

    Examples:
      | event                 |
      | tool_execution_start  |
      | tool_call             |
      | tool_execution_update |
      | tool_result           |
      | tool_execution_end    |

  @rule:exec.for-a-package-loaded-later
  Scenario Outline: A package that is loaded while its agent is there runs a program in <event>
    Given an agent "main" in the folder "/usr"
    When the model calls "run"
    Given package "guard" calls exec with ["pwd"] in <event>
    When package "guard" is loaded
    And the model calls "run"
    Then exec resolved with {"stdout": "/usr\n", "code": 0}

    Examples:
      | event                |
      | tool_execution_start |
      | tool_call            |
      | tool_result          |
      | tool_execution_end   |

  @rule:exec.without-cwd-each-agents-own-folder
  Scenario: Two agents in folders of their own
    Given an agent "main" in the folder "/usr"
    And an agent "other" in the folder "/"
    And the tool "run" calls exec with ["pwd"]
    When the model calls "run"
    And the model of agent "other" calls "run"
    Then exec resolved with {"stdout": "/\n", "code": 0}
    When the model calls "run"
    Then exec resolved with {"stdout": "/usr\n", "code": 0}

  @rule:exec.a-missing-program-resolves
  Scenario: A program that is not there
    Given the tool "run" calls exec with ["no-such-program-anywhere", []]
    When the model calls "run"
    Then exec resolved without success
    And exec resolved with {"stdout": "", "killed": false}

  @rule:exec.a-missing-program-resolves @case:the-next-one
  Scenario: A program after one that does not exist
    Given the tool "run" calls exec with ["no-such-program-anywhere", []]
    And the tool "run" calls exec with ["echo", ["here"]]
    When the model calls "run"
    Then exec resolved with {"stdout": "here\n", "stderr": "", "code": 0, "killed": false}

  @rule:exec.a-failed-start-says-why @on:bridge
  Scenario: The reason
    Given the tool "run" calls exec with ["no-such-program-anywhere", []]
    When the model calls "run"
    Then exec failed with a reason

  @rule:exec.a-failed-start-says-why @on:pi
  Scenario: On Pi there is none
    Given the tool "run" calls exec with ["no-such-program-anywhere", []]
    When the model calls "run"
    Then exec resolved with {"stderr": ""}

  @rule:exec.a-missing-folder-resolves
  Scenario: A folder that is not there
    Given the tool "run" calls exec with ["true", [], {"cwd": "/no/such/folder"}]
    When the model calls "run"
    Then exec resolved without success
    And exec resolved with {"stdout": "", "killed": false}

  @rule:exec.a-timeout-kills @case:ended-by-the-signal
  Scenario: A timeout
    Given the tool "run" calls exec with ["sh", ["-c", "echo part; echo why >&2; exec sleep 20"], {"timeout": 300}]
    When the model calls "run"
    Then exec resolved with {"stdout": "part\n", "stderr": "why\n", "killed": true}

  @rule:exec.a-timeout-kills @case:answered-by-an-exit-of-its-own
  Scenario: A child that takes the signal for a request to end
    Given the tool "run" calls exec with ["sh", ["-c", "trap 'exit 9' TERM; while :; do sleep 0.05; done"], {"timeout": 300}]
    When the model calls "run"
    Then exec resolved with {"killed": true}

  @rule:exec.a-timeout-kills @case:an-unfinished-line
  Scenario: A child that is ended in the middle of a line
    Given the tool "run" calls exec with ["sh", ["-c", "echo one; printf tw; printf half >&2; exec sleep 20"], {"timeout": 300}]
    When the model calls "run"
    Then exec resolved with {"stdout": "one\ntw", "stderr": "half", "killed": true}

  @rule:exec.a-timeout-kills @case:not-before-it-passes
  Scenario: A child that ends before its timeout
    Given the tool "run" calls exec with ["sh", ["-c", "sleep 1.2; echo done"], {"timeout": 20000}]
    When the model calls "run"
    Then exec resolved with {"stdout": "done\n", "code": 0, "killed": false}

  @rule:exec.a-timeout-kills @case:beside-everything
  Scenario: A timeout beside a folder and a signal, for two programs at once
    Given the signal "stop" is aborted later
    And the tool "run" makes 2 calls of exec at once with ["sh", ["-c", "exec sleep 1.6"], {"timeout": 200, "cwd": "/", "signal": {"$": "signal", "id": "stop"}}]
    When the model calls "run"
    Then every exec resolved with {"killed": true}

  @rule:exec.a-timeout-may-be-a-text
  Scenario: A timeout in digits
    Given the tool "run" calls exec with ["sh", ["-c", "exec sleep 1.6"], {"timeout": "300"}]
    When the model calls "run"
    Then exec resolved with {"killed": true}

  @rule:exec.arguments-become-texts
  Scenario: Numbers, truth values and nothing among the arguments
    Given the tool "run" calls exec with ["printf", ["<%s>", 7, 7.0, 0.5, -1, true, false, null]]
    When the model calls "run"
    Then exec resolved with {"stdout": "<7><7><0.5><-1><true><false><null>", "code": 0}

  @rule:exec.an-abort-kills
  Scenario: A signal
    Given the signal "stop" is aborted with the start of child 1
    And the tool "run" calls exec with ["sh", ["-c", "exec sleep 20"], {"signal": {"$": "signal", "id": "stop"}}]
    When the model calls "run"
    Then exec resolved with {"killed": true}

  @rule:exec.an-abort-kills @case:beside-a-timeout
  Scenario: A signal beside a timeout that is far away
    Given the signal "stop" is aborted with the start of child 1
    And the tool "run" calls exec with ["sh", ["-c", "exec sleep 1.6"], {"timeout": 30000, "signal": {"$": "signal", "id": "stop"}}]
    When the model calls "run"
    Then exec resolved with {"killed": true}

  @rule:exec.an-abort-kills @case:its-own-child
  Scenario: The end of one child is not the end of another
    Given a package "walker" with the tool "walk" and
      """
      executionMode: parallel
      """
    And package "runner" registers the tool "sprint" with
      """
      executionMode: parallel
      """
    And the tool "sprint" calls exec with ["sh", ["-c", "exec sleep 20"], {"timeout": 200}]
    And the tool "walk" calls exec with ["sh", ["-c", "sleep 0.9; echo arrived"]]
    When the model calls in one message
      | tool   |
      | sprint |
      | walk   |
    Then exec resolved with {"stdout": "arrived\n", "code": 0, "killed": false}

  @rule:exec.an-abort-kills @case:several-children
  Scenario: One signal for two children
    Given the signal "stop" is aborted with the start of child 1
    And the tool "run" makes 2 calls of exec at once with ["sh", ["-c", "exec sleep 1.6"], {"signal": {"$": "signal", "id": "stop"}}]
    When the model calls "run"
    Then every exec resolved with {"killed": true}

  @rule:exec.an-abort-kills @case:several-that-run
  Scenario: One signal for two children that both run when it is aborted
    Given the signal "stop" is aborted with the start of child 2
    And the tool "run" makes 2 calls of exec at once with ["sh", ["-c", "exec sleep 2.4"], {"signal": {"$": "signal", "id": "stop"}}]
    When the model calls "run"
    Then every exec resolved with {"killed": true}

  @rule:exec.a-signal-outlives-each-child
  Scenario: One signal for a child that has ended and one that still runs
    Given an agent "main"
    And an agent "other"
    And the signal "stop" is aborted later
    And package "runner" registers the tool "call_back"
    And the tool "run" calls exec with ["sh", ["-c", "exec sleep 2.4"], {"signal": {"$": "signal", "id": "stop"}}]
    And the tool "call_back" does
      """
      acts:
        - {do: hold, kinds: [spawn]}
        - {do: pi, call: exec, args: ["true", [], {signal: {$: signal, id: stop}}]}
        - {do: abort, signal: stop}
      """
    And the model of agent "main" first calls in one message
      | tool |
      | run  |
    And the model of agent "other" first calls in one message
      | tool      |
      | call_back |
    When the user says "go" to ["main", "other"]
    Then exec resolved with {"killed": true}

  @rule:exec.an-aborted-signal-kills
  Scenario: A signal aborted before
    Given the signal "stop" is aborted already
    And the tool "run" calls exec with ["sleep", ["20"], {"signal": {"$": "signal", "id": "stop"}}]
    When the model calls "run"
    Then exec resolved with {"killed": true}

  @rule:exec.a-child-that-ignores-term-is-killed @on:bridge @slow
  Scenario: A child that ignores TERM
    Given the tool "run" calls exec with ["sh", ["-c", "trap '' TERM; while :; do sleep 0.231; done"], {"timeout": 200}]
    When the model calls "run"
    Then exec resolved with {"killed": true}
    And no process whose command holds "sleep 0.231" is left

  @rule:exec.a-child-that-ignores-term-is-killed @on:pi
  Scenario: On Pi it is waited for
    Given the tool "run" calls exec with ["sh", ["-c", "trap '' TERM; sleep 1.231; echo survived"], {"timeout": 200}]
    When the model calls "run"
    Then exec resolved with {"killed": true, "stdout": "survived\n"}

  @rule:exec.the-whole-group-goes @on:bridge
  Scenario: A child of the child
    Given the tool "run" calls exec with ["sh", ["-c", "echo part; sleep 41.732; echo after"], {"timeout": 300}]
    When the model calls "run"
    Then exec resolved with {"stdout": "part\n", "killed": true}
    And no process whose command holds "sleep 41.732" is left

  @rule:exec.the-whole-group-goes @on:pi
  Scenario: On Pi a child of the child lives on
    Given the tool "run" calls exec with ["sh", ["-c", "echo part; sleep 2.732; echo after"], {"timeout": 300}]
    When the model calls "run"
    Then exec resolved with {"killed": true}
    And a process whose command holds "sleep 2.732" is left

  @rule:exec.own-signal-is-not-killed
  Scenario: A child that ends itself
    Given the tool "run" calls exec with ["sh", ["-c", "kill -9 $$"]]
    When the model calls "run"
    Then exec resolved with {"killed": false}

  @rule:exec.stdin-is-closed
  Scenario: A program that reads its input
    Given the tool "run" calls exec with ["cat", []]
    When the model calls "run"
    Then exec resolved with {"stdout": "", "code": 0}

  @rule:exec.each-stream-keeps-its-last-64-mib @on:bridge
  Scenario Outline: As much as fits, and one byte more
    Given the tool "run" calls exec with ["sh", ["-c", "printf <first>; head -c <rest> /dev/zero | tr '\\0' x"]]
    When the model calls "run"
    Then the stdout of exec is <kept> bytes long and begins with "<head>"

    Examples:
      | first | rest     | kept     | head |
      | A     | 67108862 | 67108863 | Ax   |
      | A     | 67108863 | 67108864 | Ax   |
      | A     | 67108864 | 67108864 | xx   |
      | AB    | 67108863 | 67108864 | Bx   |

  @rule:exec.each-stream-keeps-its-last-64-mib @on:bridge @case:both
  Scenario: Each stream has its own bound
    Given the tool "run" calls exec with ["sh", ["-c", "printf A; head -c 40000000 /dev/zero | tr '\\0' x; (printf B; head -c 40000000 /dev/zero | tr '\\0' y) >&2"]]
    When the model calls "run"
    Then the stdout of exec is 40000001 bytes long and begins with "Ax"
    And the stderr of exec is 40000001 bytes long and begins with "By"

  @rule:exec.each-stream-keeps-its-last-64-mib @on:pi
  Scenario: On Pi there is no bound
    Given the tool "run" calls exec with ["sh", ["-c", "printf A; head -c 67108864 /dev/zero | tr '\\0' x"]]
    When the model calls "run"
    Then the stdout of exec is 67108865 bytes long and begins with "Ax"

  @rule:exec.an-overflow-is-announced
  Scenario: One byte too many, and a few words on the other stream
    Given the tool "run" calls exec with ["sh", ["-c", "echo the disk is full >&2; head -c 67108865 /dev/zero | tr '\\0' x"]]
    When the model calls "run"
    Then the overflow of exec is announced beside "the disk is full"

  @rule:exec.utf8-across-reads-is-whole @on:bridge
  Scenario: A character in two writes
    Given the tool "run" calls exec with ["sh", ["-c", "printf 'caf\\303'; sleep 0.2; printf '\\251'"]]
    When the model calls "run"
    Then exec resolved with {"stdout": "café"}

  @rule:exec.utf8-across-reads-is-whole @on:pi
  Scenario: On Pi it is lost
    Given the tool "run" calls exec with ["sh", ["-c", "printf 'caf\\303'; sleep 0.2; printf '\\251'"]]
    When the model calls "run"
    Then exec resolved with {"stdout": "caf\ufffd\ufffd"}

  @rule:exec.bytes-that-are-no-utf8
  Scenario: Bytes of no encoding
    Given the tool "run" calls exec with ["printf", ["\\377\\376ok a\\0b"]]
    When the model calls "run"
    Then exec resolved with {"stdout": "\ufffd\ufffdok a\u0000b", "code": 0}

  @rule:exec.bytes-that-are-no-utf8 @case:the-other-stream
  Scenario: Bytes of no encoding on the other stream
    Given the tool "run" calls exec with ["sh", ["-c", "printf '\\377\\376ok a\\000b' >&2"]]
    When the model calls "run"
    Then exec resolved with {"stderr": "\ufffd\ufffdok a\u0000b", "code": 0}

  @rule:exec.plain-variables-reach-the-child
  Scenario: The home folder
    Given the tool "run" calls exec with ["sh", ["-c", "test -n \"$HOME\" && echo there"]]
    When the model calls "run"
    Then exec resolved with {"stdout": "there\n"}

  @rule:exec.every-plain-variable-reaches-the-child
  Scenario: A variable that nobody knows but who set it
    Given the tool "run" calls exec with ["sh", ["-c", "test -n \"$BRIDGE_CONFORMANCE_RUN\" && echo there"]]
    When the model calls "run"
    Then exec resolved with {"stdout": "there\n"}

  @rule:exec.without-a-provider-nothing-runs
  Scenario: A host without a subprocess service
    Given the host's subprocess service is missing
    And the tool "run" calls exec with ["echo", ["hello"]]
    When the model calls "run"
    Then exec failed with a reason
    And nothing was started

  @rule:exec.the-selected-provider-runs-it
  Scenario: A provider that is not the local one
    Given the host's subprocess service is scripted
    And the provider answers {"stdout": "from afar\n", "stderr": "far\n", "exitCode": 4}
    And the tool "run" calls exec with ["no-such-program-anywhere", ["one", "two"], {"cwd": "/"}]
    When the model calls "run"
    Then exec resolved with {"stdout": "from afar\n", "stderr": "far\n", "code": 4, "killed": false}
    And the provider was asked for ["no-such-program-anywhere", "one", "two"]
    And only the provider started anything

  @rule:exec.the-provider-is-asked-for-64-mib
  Scenario: What the provider is asked to keep
    Given the host's subprocess service is scripted
    And the tool "run" calls exec with ["any-program", []]
    When the model calls "run"
    Then the provider was asked to keep 67108864 bytes of each stream

  @rule:exec.a-background-child-is-not-waited-for @slow
  Scenario: A background process that holds the output
    Given the tool "run" calls exec with ["sh", ["-c", "(sleep 8; echo late) & echo now"]]
    When the model calls "run"
    Then exec resolved with {"stdout": "now\n", "code": 0}

  @rule:exec.late-output-is-kept
  Scenario: Output just after the exit
    Given the tool "run" calls exec with ["sh", ["-c", "(sleep 0.05; echo late) & echo now"]]
    When the model calls "run"
    Then exec resolved with {"stdout": "now\nlate\n"}

  @rule:exec.no-timeout-below-one
  Scenario Outline: A timeout that is none
    Given the tool "run" calls exec with ["sh", ["-c", "sleep 0.2; echo done"], {"timeout": <timeout>}]
    When the model calls "run"
    Then exec resolved with {"stdout": "done\n", "code": 0, "killed": false}

    Examples:
      | timeout      |
      | 0            |
      | -5           |
      | {"$": "NaN"} |

  @rule:exec.odd-arguments-harm-nobody
  Scenario Outline: An odd command
    Given the tool "run" calls exec with <arguments>
    When the model calls "run"
    Then exec failed or resolved without success
    And call "1" succeeds

    Examples:
      | arguments                |
      | ["", []]                 |
      | ["echo", ["a\u0000b"]]   |

  @rule:exec.a-relative-program @on:bridge
  Scenario: A relative path
    Given the tool "run" calls exec with ["./true", [], {"cwd": "/bin"}]
    When the model calls "run"
    Then exec resolved without success

  @rule:exec.a-relative-program @on:pi
  Scenario: On Pi it runs
    Given the tool "run" calls exec with ["./true", [], {"cwd": "/bin"}]
    When the model calls "run"
    Then exec resolved with {"code": 0}

  @rule:exec.many-at-once
  Scenario: Two hundred at once
    Given the tool "run" makes 200 calls of exec at once with ["sh", ["-c", "echo $$"]]
    When the model calls "run"
    Then every exec resolved with {"code": 0, "killed": false}
    And no two exec answers share their stdout

  @rule:exec.programs-run-beside-each-other
  Scenario: Two programs that wait for each other
    Given the tool "run" makes 2 calls of exec at once with ["sh", ["-c", "d=${TMPDIR:-/tmp}/met-$PPID; mkdir -p $d; : > $d/$$; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do if [ $(ls $d | wc -l) -ge 2 ]; then echo met; sleep 1; break; fi; sleep 0.1; done; rm -rf $d"]]
    When the model calls "run"
    Then every exec resolved with {"stdout": "met\n", "code": 0}

  @rule:exec.nothing-is-left-open
  Scenario: Two hundred calls later
    Given the tool "run" makes 200 calls of exec at once with ["true"]
    When the model calls "run"
    And the implementation's open files and memory are noted
    And the model calls "run"
    Then every exec resolved with {"code": 0}
    And fewer than 50 files more are open, and no child is left

  @rule:exec.memory-is-bounded @slow
  Scenario: 1 GiB passes
    Given the tool "run" calls exec with ["head", ["-c", "1073741824", "/dev/zero"]]
    When the implementation's open files and memory are noted
    And the model calls "run"
    Then exec resolved with {"code": 0, "killed": false}
    And it needed less than 768 MiB of memory more

  @rule:exec.works-while-loading
  Scenario: While the factory runs
    Given package "eager" calls exec with ["echo", ["early"]] while loading
    When the user says "hello"
    Then exec, called while loading, answered

  @rule:exec.works-while-loading @case:what-follows
  Scenario: What the factory does after it
    Given package "eager" calls exec with ["sleep", ["0.2"]] while loading
    And package "eager" calls registerTool with [{"name": "late_bird", "description": "comes last", "parameters": {"type": "object", "properties": {}}}] while loading
    When the user says "hello"
    Then request 1 lists "late_bird"
