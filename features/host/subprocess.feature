Feature: subprocess
  A child from its spec to its end. Each call waits for that end; streams keep 65536 bytes unless the spec says.

  @rule:subprocess.exit-code-and-streams-are-told
  Scenario: A child that fails by itself
    Then the host answers
      | call             | arguments                                           | answer                                                                                                            |
      | subprocess.spawn | {argv: [sh, -c, "echo out; echo err >&2; exit 3"]}  | returns: {exitCode: 3, signal: null, stdout: {text: "out\\n", nextOffset: 4, lossy: false}, stderr: {text: "err\\n"}} |

  @rule:subprocess.no-shell-reads-the-arguments
  Scenario: Arguments that a shell would read
    Then the host answers
      | call             | arguments                        | answer                                               |
      | subprocess.spawn | {argv: [echo, $HOME, ";", "*"]}  | returns: {exitCode: 0, stdout: {text: "$HOME ; *\\n"}} |

  @rule:subprocess.the-bound-keeps-the-tail-to-the-byte
  Scenario Outline: Ten bytes and a bound
    Then the host answers
      | call             | arguments                                     | answer                                                                                |
      | subprocess.spawn | {argv: [printf, "0123456789"], stdout: <kept>} | returns: {exitCode: 0, stdout: {text: "<text>", nextOffset: 10, lossy: <lossy>}} |

    Examples:
      | kept | text       | lossy |
      | 4    | 6789       | true  |
      | 0    |            | true  |
      | 10   | 0123456789 | false |

  @rule:subprocess.bytes-that-are-no-text-become-replacement-characters
  Scenario Outline: Bytes that are no text
    Then the host answers
      | call             | arguments                                       | answer                                            |
      | subprocess.spawn | {argv: [printf, '<printed>'], stdout: <kept>}   | returns: {stdout: {text: "<text>", nextOffset: <bytes>}} |

    Examples:
      | printed      | kept | text         | bytes |
      | \\377\\376   | 9    | \\uFFFD\\uFFFD | 2     |
      | a\\303\\251  | 1    | \\uFFFD      | 3     |
      | a\\303\\251  | 2    | é            | 3     |

  @rule:subprocess.a-signal-leaves-no-exit-code
  Scenario: A child kills itself
    Then the host answers
      | call             | arguments                        | answer                                     |
      | subprocess.spawn | {argv: [sh, -c, "kill -9 $$"]}   | returns: {exitCode: null, signal: SIGKILL} |

  @rule:subprocess.a-failed-start-rejects
  Scenario: Programs and folders that are not there
    Then the host answers
      | call             | arguments                             | answer                                   |
      | subprocess.spawn | {argv: [no-such-program]}             | throws: spawn no-such-program ENOENT     |
      | subprocess.spawn | {argv: ["true"], cwd: /no/such/folder} | throws: spawn true ENOENT               |
      | subprocess.spawn | {argv: [/etc/passwd]}                 | throws: spawn /etc/passwd EACCES         |

  @rule:subprocess.a-spec-that-cannot-be-meant-throws
  Scenario: Specs that cannot be meant
    Then the host answers
      | call             | arguments                                | answer                                                       |
      | subprocess.spawn | {argv: []}                               | throws: expected a non-empty program name at argv[0]         |
      | subprocess.spawn | {argv: [""]}                             | throws: expected a non-empty program name at argv[0]         |
      | subprocess.spawn | {argv: ["true"], graceMs: 0}             | throws: subprocess graceMs must be a positive finite number  |
      | subprocess.spawn | {argv: ["true"], graceMs: 2147483648}    | throws: subprocess graceMs must be a positive finite number  |

  @rule:subprocess.a-spec-that-cannot-be-meant-throws
  @case:aborted
  Scenario: A signal that was aborted before
    Given the signal "stop" is aborted already
    Then the host answers
      | call             | arguments                                        | answer                         |
      | subprocess.spawn | {argv: ["true"], signal: {$: signal, id: stop}}  | throws: aborted before spawn   |

  @rule:subprocess.input-is-given-or-at-its-end
  Scenario: Input that is given, missing, and not read
    Then the host answers
      | call             | arguments                      | answer                                        |
      | subprocess.spawn | {argv: [cat], stdin: given}    | returns: {exitCode: 0, stdout: {text: given}} |
      | subprocess.spawn | {argv: [cat]}                  | returns: {exitCode: 0, stdout: {text: ""}}    |
      | subprocess.spawn | {argv: ["true"], stdin: given} | returns: {exitCode: 0}                        |

  @rule:subprocess.an-abort-ends-the-whole-group
  Scenario Outline: A child is aborted as soon as it runs
    Given the signal "stop" is aborted with the start of child 1
    Then the host answers
      | call             | arguments                                               | answer                                     |
      | subprocess.spawn | {argv: [sh, -c, "<program>"], signal: {$: signal, id: stop}} | returns: {exitCode: null, signal: SIGTERM} |
    And no process whose command holds "sleep 61.7" is left

    Examples:
      | program           |
      | exec sleep 61.7   |
      | sleep 61.7 & wait |

  @rule:subprocess.the-specs-variables-reach-the-child
  Scenario: Variables of the spec
    Then the host answers
      | call             | arguments                                                                     | answer                                      |
      | subprocess.spawn | {argv: [sh, -c, 'echo "$MY_TOKEN:$PLAIN"'], env: {MY_TOKEN: t, PLAIN: p}}   | returns: {stdout: {text: "t:p\\n"}}           |
      | subprocess.spawn | {argv: [sh, -c, 'echo "${PATH:+there}:${HOME-gone}"'], env: {HOME: {$: undefined}}} | returns: {stdout: {text: "there:gone\\n"}} |

  @rule:subprocess.a-program-is-found-by-absolute-or-bare-name
  Scenario: Names of programs
    Then the host answers
      | call                         | arguments         | answer                                                       |
      | subprocess.resolveExecutable | [/bin/sh]         | returns                                                      |
      | subprocess.resolveExecutable | [sh]              | returns                                                      |
      | subprocess.resolveExecutable | [./sh]            | throws: is a relative path; use an absolute path or a bare PATH name |
      | subprocess.resolveExecutable | [no-such-program] | throws: was not found on PATH                                |
      | subprocess.resolveExecutable | [/etc]            | throws: is not an executable file                            |
      | subprocess.resolveExecutable | ["echo hi"]       | throws: was not found on PATH                                |
