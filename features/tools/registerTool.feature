Feature: registerTool
  A package's tool becomes a tool of the host like any other: the model sees it among the native ones, the same policy
  guards it, its arguments pass Pi's own validation, and its results land in the log as the host writes results.

  Rule: In the catalogue

    @rule:registerTool.in-the-catalogue-beside-natives
    Scenario: A package's tool is listed beside a native one
      Given a native tool "disk_reader"
      And a package "parcels" with the tool "print_label"
      When the user says "hello"
      Then request 1 lists "print_label"
      And request 1 lists "disk_reader"

    @rule:registerTool.in-the-catalogue-beside-natives @case:later
    Scenario: A package's tool is listed in every request of every prompt
      Given a native tool "disk_reader"
      And a package "parcels" with the tool "print_label"
      When the model calls "print_label"
      And the model calls "disk_reader"
      Then request 2 lists "print_label"
      And request 3 lists "print_label"
      And request 4 lists "print_label"
      And request 4 lists "disk_reader"

    @rule:registerTool.a-package-loaded-later-serves-every-agent
    Scenario: The tool of a package that is loaded while agents are there is every agent's
      Given an agent "main"
      And an agent "other"
      And a native tool "disk_reader"
      When the user says "hello"
      Given a package "parcels" with the tool "print_label"
      When package "parcels" is loaded
      And the model calls "print_label"
      And the model of agent "other" calls "print_label"
      Then request 1 does not list "print_label"
      And request 2 lists "print_label"
      And request 1 of agent "other" lists "print_label"
      And call "1" succeeds with "print_label ok"
      And call "2" succeeds with "print_label ok"

    @rule:registerTool.a-package-loaded-later-serves-every-agent @case:like-any-other
    Scenario: The tool of a package that is loaded while agents are there is shown, prepared and coerced
      Given an agent "main"
      And an agent "other"
      And a native tool "disk_reader"
      When the user says "hello"
      Given a package "parcels" with the tool "print_label" and
        """
        description: prints labels
        parameters: {type: object, properties: {copies: {type: number}}, required: [copies]}
        prepare: {ops: [{op: set, path: [copies], value: "7"}]}
        promptSnippet: Prints parcel labels on demand
        promptGuidelines: [Never print on a Sunday]
        """
      When package "parcels" is loaded
      And the model calls "print_label" with {"copies": 1}
      And the model of agent "other" calls "print_label"
      Then call "1" of "print_label" runs with {"copies": 7}
      And call "2" of "print_label" runs with {"copies": 7}
      And request 2 shows "print_label" with
        """
        description: prints labels
        properties: {copies: {type: number}}
        """
      And the system prompt of request 2 has "Prints parcel labels on demand"
      And the system prompt of request 2 has "Never print on a Sunday"

    @rule:registerTool.described-as-registered
    Scenario: The model reads name and description as the package wrote them
      Given a package "parcels" with the tool "print_label" and
        """
        description: "Prints a label.\n\n  Keep the *stars* & the  spaces."
        """
      When the user says "hello"
      Then request 1 shows "print_label" with
        """
        name: print_label
        description: "Prints a label.\n\n  Keep the *stars* & the  spaces."
        """

    @rule:registerTool.described-as-registered @case:other-scripts
    Scenario: The model reads a description in other scripts, letter by letter
      Given a package "parcels" with the tool "print_label" and
        """
        description: " Druckt ein Etikett fu\u0308r Cafe\u0301s \u2013 \u65e5\u672c\u8a9e \U0001F4E6 <b>100%</b> \t{name} "
        """
      When the user says "hello"
      Then request 1 shows "print_label" with
        """
        description: " Druckt ein Etikett fu\u0308r Cafe\u0301s \u2013 \u65e5\u672c\u8a9e \U0001F4E6 <b>100%</b> \t{name} "
        """

    @rule:registerTool.described-as-registered @case:marks-that-mean-something
    Scenario: The model reads marks that mean something to programs as they are
      Given a package "parcels" with the tool "print_label" and
        """
        description: "Costs $$5, $& or $1; 100%% of %s {0} ${x} \\n `a` \"b\" & <i>\r\n\u00a0#{y}"
        """
      When the user says "hello"
      Then request 1 shows "print_label" with
        """
        description: "Costs $$5, $& or $1; 100%% of %s {0} ${x} \\n `a` \"b\" & <i>\r\n\u00a0#{y}"
        """

    @rule:registerTool.described-as-registered @case:long
    Scenario: The model reads a description of four thousand characters whole
      Given a package "parcels" with the tool "print_label" and
        """
        description: {$: repeat, text: "a label. ", times: 450}
        """
      When the user says "hello"
      Then request 1 shows "print_label" with
        """
        description: {$: repeat, text: "a label. ", times: 450}
        """

    @rule:registerTool.indistinguishable-in-the-catalogue @case:native
    Scenario: A native tool's row is what it was given
      Given a native tool "native_scale" with
        """
        description: Weighs a parcel
        parameters: {type: object, properties: {parcel_code: {type: string}, owner: {type: object, properties: {city: {type: string}, street: {type: string}}, required: [city]}, stops: {type: array, items: {type: object, properties: {city: {type: string}}}}}, required: [parcel_code]}
        """
      When the user says "hello"
      Then request 1 shows "native_scale" with
        """
        name: native_scale
        description: Weighs a parcel
        parameters: {type: object, properties: {parcel_code: {type: string}, owner: {type: object, properties: {city: {type: string}, street: {type: string}}, required: [city]}, stops: {type: array, items: {type: object, properties: {city: {type: string}}}}}, required: [parcel_code]}
        """

    @rule:registerTool.indistinguishable-in-the-catalogue @case:package
    Scenario: A package's row is what it was given, and no more
      Given a package "parcels" with the tool "parcel_scale" and
        """
        description: Weighs a parcel
        parameters: {type: object, properties: {parcel_code: {type: string}, owner: {type: object, properties: {city: {type: string}, street: {type: string}}, required: [city]}, stops: {type: array, items: {type: object, properties: {city: {type: string}}}}}, required: [parcel_code]}
        """
      When the user says "hello"
      Then request 1 shows "parcel_scale" with
        """
        name: parcel_scale
        description: Weighs a parcel
        parameters: {type: object, properties: {parcel_code: {type: string}, owner: {type: object, properties: {city: {type: string}, street: {type: string}}, required: [city]}, stops: {type: array, items: {type: object, properties: {city: {type: string}}}}}, required: [parcel_code]}
        """

    @rule:registerTool.prompt-snippet-while-active @case:snippet
    Scenario: What a tool says of itself for the prompt is in the prompt
      Given a package "parcels" with the tool "print_label" and
        """
        promptSnippet: Prints parcel labels on demand
        promptGuidelines: [Ask before printing a second label, "  "]
        """
      When the user says "hello"
      Then the system prompt of request 1 has "Prints parcel labels on demand"
      And the system prompt of request 1 has "Ask before printing a second label"

    @rule:registerTool.prompt-snippet-while-active @case:two-packages
    Scenario: Two packages' prompt texts stand side by side
      Given a package "parcels" with the tool "print_label" and
        """
        promptSnippet: Prints parcel labels on demand
        """
      And a package "scales" with the tool "weigh" and
        """
        promptSnippet: Weighs anything up to a ton
        """
      When the user says "hello"
      Then the system prompt of request 1 has "Prints parcel labels on demand"
      And the system prompt of request 1 has "Weighs anything up to a ton"

    @rule:registerTool.prompt-snippet-while-active @case:several-tools
    Scenario: Every tool's text and every guideline is in the prompt
      Given a package "parcels" with the tool "print_label" and
        """
        promptSnippet: Prints parcel labels on demand
        promptGuidelines: [Ask before printing a second label, Never print on a Sunday]
        """
      And package "parcels" registers the tool "weigh" with
        """
        promptSnippet: Weighs anything up to a ton
        """
      And package "parcels" registers the tool "stack" with
        """
        promptGuidelines: [Put the heavy ones at the bottom]
        """
      When the user says "hello"
      Then the system prompt of request 1 has "Prints parcel labels on demand"
      And the system prompt of request 1 has "Ask before printing a second label"
      And the system prompt of request 1 has "Never print on a Sunday"
      And the system prompt of request 1 has "Weighs anything up to a ton"
      And the system prompt of request 1 has "Put the heavy ones at the bottom"

    @rule:registerTool.prompt-snippet-while-active @case:nearly-alike
    Scenario: Guidelines that differ in a capital, a sign or their end are all in the prompt
      Given a package "parcels" with the tool "print_label" and
        """
        promptGuidelines: [Print in COLOUR, Print in colour, Print in colour!, Print in colour on Mondays]
        """
      And package "parcels" registers the tool "weigh" with
        """
        promptGuidelines: [print in colour]
        """
      When the user says "hello"
      Then the system prompt of request 1 has "Print in COLOUR"
      And the system prompt of request 1 has "Print in colour!"
      And the system prompt of request 1 has "Print in colour on Mondays"
      And the system prompt of request 1 has "print in colour"

    @rule:registerTool.prompt-snippet-while-active @case:long
    Scenario: A long text in other scripts and on two lines is in the prompt, however its blanks are written
      Given a package "parcels" with the tool "print_label" and
        """
        promptSnippet: "Druckt Etiketten für Päckchen 📦 in jeder Größe, auch in solchen, die sonst niemand druckt, mit Absender, Empfänger, Gewicht und dem Vermerk, dass oben oben ist und unten unten.\nNicht für Briefe."
        promptGuidelines: ["Frage nach, bevor du ein zweites druckst – 日本語 auch"]
        """
      When the user says "hello"
      Then the system prompt of request 1 has "Druckt Etiketten für Päckchen 📦 in jeder Größe"
      And the system prompt of request 1 has "dass oben oben ist und unten unten."
      And the system prompt of request 1 has "Nicht für Briefe."
      And the system prompt of request 1 has "Frage nach, bevor du ein zweites druckst – 日本語 auch"

    @rule:registerTool.prompt-snippet-while-active @case:many
    Scenario: Each of twelve guidelines is in the prompt
      Given a package "parcels" with the tool "print_label" and
        """
        promptGuidelines:
          - Keep rule one in mind
          - Keep rule two in mind
          - Keep rule three in mind
          - Keep rule four in mind
          - Keep rule five in mind
          - Keep rule six in mind
          - Keep rule seven in mind
          - Keep rule eight in mind
          - Keep rule nine in mind
          - Keep rule ten in mind
          - Keep rule eleven in mind
          - Keep rule twelve in mind
        """
      When the user says "hello"
      Then the system prompt of request 1 has "Keep rule one in mind"
      And the system prompt of request 1 has "Keep rule two in mind"
      And the system prompt of request 1 has "Keep rule three in mind"
      And the system prompt of request 1 has "Keep rule four in mind"
      And the system prompt of request 1 has "Keep rule five in mind"
      And the system prompt of request 1 has "Keep rule six in mind"
      And the system prompt of request 1 has "Keep rule seven in mind"
      And the system prompt of request 1 has "Keep rule eight in mind"
      And the system prompt of request 1 has "Keep rule nine in mind"
      And the system prompt of request 1 has "Keep rule ten in mind"
      And the system prompt of request 1 has "Keep rule eleven in mind"
      And the system prompt of request 1 has "Keep rule twelve in mind"

    @rule:registerTool.prompt-snippet-while-active @case:shared
    Scenario: A guideline that two tools share is in the prompt when one of them is gone
      Given a package "parcels" with the tool "print_label" and
        """
        promptGuidelines: [Never work on a Sunday]
        """
      And package "parcels" registers the tool "weigh" with
        """
        promptGuidelines: [Never work on a Sunday]
        """
      And the tool "weigh" calls setActiveTools with [["weigh"]]
      When the model calls "weigh"
      And the user says "and now?"
      Then the system prompt of request 1 has "Never work on a Sunday"
      And request 3 lists "weigh"
      And the system prompt of request 3 has "Never work on a Sunday"

    @rule:registerTool.prompt-snippet-while-active @case:back-again
    Scenario: The texts of a tool that is back are in the prompt again
      Given a package "parcels" with the tool "print_label" and
        """
        promptSnippet: Prints parcel labels on demand
        promptGuidelines: [Never print on a Sunday]
        """
      And package "parcels" registers the tool "manage"
      And the tool "manage" does
        """
        when: {nth: 1}
        acts: [{do: pi, call: setActiveTools, args: [[manage]]}]
        """
      And the tool "manage" does
        """
        when: {nth: 2}
        acts: [{do: pi, call: setActiveTools, args: [[manage, print_label]]}]
        """
      When the model calls "manage"
      And the model calls "manage"
      And the user says "and now?"
      Then the system prompt of request 1 has "Prints parcel labels on demand"
      And request 5 lists "print_label"
      And the system prompt of request 5 has "Prints parcel labels on demand"
      And the system prompt of request 5 has "Never print on a Sunday"

    @rule:registerTool.prompt-snippet-while-active @case:marks-that-mean-something
    Scenario: Marks that mean something to programs are in the prompt as they are
      Given a package "parcels" with the tool "print_label" and
        """
        promptSnippet: Costs $$5, $& or $1; 100%% of %s {0} ${x} `a` & <i>
        promptGuidelines: ["Pay $$5, $& or $1; 100%% of %s {0} ${x} `a` & <i>", "-- begins with two dashes"]
        """
      When the user says "hello"
      Then the system prompt of request 1 has "Costs $$5, $& or $1; 100%% of %s {0} ${x} `a` & <i>"
      And the system prompt of request 1 has "Pay $$5, $& or $1; 100%% of %s {0} ${x} `a` & <i>"
      And the system prompt of request 1 has "-- begins with two dashes"

    @rule:registerTool.prompt-snippet-while-active @case:later
    Scenario: The prompt of each request has what is registered by then
      Given a package "parcels" with the tool "open_shop" and
        """
        promptSnippet: Opens the shop in the morning
        """
      And package "parcels" registers the tool "print_label" with
        """
        promptSnippet: Prints one label
        """
      And the tool "open_shop" calls registerTool with [{"name": "weigh", "label": "weigh", "description": "weighs", "promptSnippet": "Weighs anything up to a ton", "promptGuidelines": ["Weigh twice"], "parameters": {"type": "object", "properties": {}}}]
      And the tool "open_shop" calls registerTool with [{"name": "print_label", "label": "print", "description": "prints", "promptSnippet": "Prints several", "parameters": {"type": "object", "properties": {}}}]
      When the model calls "open_shop"
      Then the system prompt of request 1 lacks "Weighs anything up to a ton"
      And the system prompt of request 2 has "Opens the shop in the morning"
      And the system prompt of request 2 has "Weighs anything up to a ton"
      And the system prompt of request 2 has "Weigh twice"
      And the system prompt of request 2 has "Prints several"
      And the system prompt of request 2 lacks "Prints one label"

    @rule:registerTool.prompt-snippet-while-active @case:blank
    Scenario: Blank texts leave no trace in the prompt
      Given a package "parcels" with the tool "print_label" and
        """
        promptSnippet: "  "
        promptGuidelines: ["", "  ", "\n\t"]
        """
      And the tool "print_label" calls registerTool with [{"name": "print_label", "label": "print", "description": "prints", "parameters": {"type": "object", "properties": {}}}]
      When the model calls "print_label"
      Then the system prompt of request 2 has as many lines as that of request 1

    @rule:registerTool.prompt-snippet-while-active @case:replaced
    Scenario Outline: A second registration takes the <field> of the first from the prompt
      Given a package "parcels" with the tool "print_label" and
        """
        <field>: <value>
        """
      And the tool "print_label" calls registerTool with [{"name": "print_label", "label": "print", "description": "prints several", "parameters": {"type": "object", "properties": {}}}]
      And the model first calls "print_label"
      When the user says "print it"
      And the user says "and now another"
      Then the system prompt of request 1 has "Never print on a Sunday"
      And the system prompt of request 3 lacks "Never print on a Sunday"

      Examples:
        | field            | value                     |
        | promptSnippet    | Never print on a Sunday   |
        | promptGuidelines | [Never print on a Sunday] |

    @rule:registerTool.a-refused-tool-is-not-in-the-prompt
    Scenario: What a tool wants said that was refused the host's own name
      Given the host's reserved transport tool "run_code"
      And a package "parcels" with the tool "print_label" and
        """
        promptSnippet: Prints parcel labels on demand
        """
      And package "parcels" registers the tool "run_code" with
        """
        promptSnippet: Runs what is written on parcels
        promptGuidelines: [Run no code on a Sunday]
        """
      When the user says "hello"
      Then the system prompt of request 1 has "Prints parcel labels on demand"
      And the system prompt of request 1 lacks "Runs what is written on parcels"
      And the system prompt of request 1 lacks "Run no code on a Sunday"

    @rule:registerTool.prompt-texts-are-each-agents-own
    Scenario: An agent's prompt has the texts of its tools after another one switched them off
      Given an agent "main"
      And an agent "other"
      And a package "parcels" with the tool "print_label" and
        """
        promptSnippet: Prints parcel labels on demand
        promptGuidelines: [Ask before printing a second label]
        """
      And package "parcels" registers the tool "close_counter"
      And the tool "close_counter" calls setActiveTools with [["close_counter"]]
      When the model of agent "other" calls "close_counter"
      And the user says "hello"
      Then request 1 lists "print_label"
      And the system prompt of request 1 has "Prints parcel labels on demand"
      And the system prompt of request 1 has "Ask before printing a second label"

    @rule:registerTool.prompt-texts-are-each-agents-own @case:switched-off
    Scenario: An agent's prompt has no text of a tool that it switched off
      Given an agent "main"
      And an agent "other"
      And a package "parcels" with the tool "print_label" and
        """
        promptSnippet: Prints parcel labels on demand
        promptGuidelines: [Ask before printing a second label]
        """
      And package "parcels" registers the tool "close_counter"
      And the tool "close_counter" calls setActiveTools with [["close_counter"]]
      When the model of agent "other" calls "print_label"
      And the model calls "close_counter"
      Then the system prompt of request 2 has "Prints parcel labels on demand" only if it lists "print_label"
      And the system prompt of request 2 has "Ask before printing a second label" only if it lists "print_label"

    @rule:registerTool.prompt-texts-are-each-agents-own @case:registered-again
    Scenario: An agent's prompt has the texts of a tool as that agent's work registered it last
      Given an agent "main"
      And an agent "other"
      And a package "parcels" with the tool "print_label" and
        """
        promptSnippet: Prints parcel labels on demand
        promptGuidelines: [Ask before printing a second label]
        """
      And package "parcels" registers the tool "swap_printer"
      And the tool "swap_printer" calls registerTool with [{"name": "print_label", "label": "print", "description": "prints in colour", "parameters": {"type": "object", "properties": {}}, "promptSnippet": "Prints labels of every colour", "promptGuidelines": ["Spare the red ink"]}]
      When the model of agent "other" calls "print_label"
      And the model calls "swap_printer"
      Then the system prompt of request 2 has "Prints labels of every colour"
      And the system prompt of request 2 has "Spare the red ink"
      And the system prompt of request 2 lacks "Prints parcel labels on demand"
      And the system prompt of request 2 lacks "Ask before printing a second label"

    @rule:registerTool.no-prompt-snippet-while-inactive
    Scenario: The prompt forgets a tool that was taken away
      Given a package "parcels" with the tool "print_label" and
        """
        promptSnippet: Prints parcel labels on demand
        promptGuidelines: [Ask before printing a second label]
        """
      And package "parcels" registers the tool "retire_printer"
      And the tool "retire_printer" calls unregisterTool with ["print_label"]
      And the tool "retire_printer" calls setActiveTools with [["retire_printer"]]
      When the model calls "retire_printer"
      Then request 2 does not list "print_label"
      And the system prompt of request 2 lacks "Prints parcel labels on demand"
      And the system prompt of request 2 lacks "Ask before printing a second label"

  Rule: The host's policy

    @rule:registerTool.a-denial-of-the-host-holds @case:deny
    Scenario: A package's tool that the host denies does not run
      Given a package "parcels" with the tool "print_label"
      And the host denies "print_label" with the reason "printing is off after hours"
      When the model calls "print_label"
      Then the tool "print_label" does not run
      And call "1" fails and says "printing is off after hours"

    @rule:registerTool.a-denial-of-the-host-holds @case:behind-the-bridge
    Scenario: A denial holds where the bridge is asked first
      Given a package "parcels" with the tool "print_label"
      And the host, after the bridge, denies "print_label" with the reason "printing is off after hours"
      When the model calls "print_label"
      Then the tool "print_label" does not run
      And call "1" fails and says "printing is off after hours"

    @rule:registerTool.a-denial-of-the-host-holds @case:guard
    Scenario: A package's tool that a guard of the host denies does not run
      Given a package "parcels" with the tool "print_label"
      And the host guards "print_label" with the reason "the printer is locked"
      When the model calls "print_label"
      Then the tool "print_label" does not run
      And call "1" fails and says "the printer is locked"

    @rule:registerTool.a-permission-of-the-host-runs-the-tool
    Scenario: A package's tool that the host allows runs once
      Given a package "parcels" with the tool "print_label"
      And the tool "print_label" answers "one label"
      And the host allows "print_label" with the reason "office hours"
      When the model calls "print_label"
      Then the tool "print_label" runs 1 times
      And call "1" succeeds with "one label"

    @rule:registerTool.a-question-of-the-host-is-asked @case:allowed
    Scenario: A package's tool that the user allows once runs
      Given the host's approval service is allowed-once
      And a package "parcels" with the tool "print_label"
      And the host asks "print_label" with the reason "printing costs money"
      When the model calls "print_label"
      Then the tool "print_label" runs 1 times
      And call "1" succeeds

    @rule:registerTool.a-question-of-the-host-is-asked @case:allowed-behind-the-bridge
    Scenario: A question is asked where the bridge is asked first
      Given the host's approval service is allowed-once
      And a package "parcels" with the tool "print_label"
      And the host, after the bridge, asks "print_label" with the reason "printing costs money"
      When the model calls "print_label"
      Then the tool "print_label" runs 1 times
      And call "1" succeeds

    @rule:registerTool.a-question-of-the-host-is-asked @case:refused-behind-the-bridge
    Scenario: The user's no counts where the bridge is asked first
      Given the host's approval service is rejected
      And a package "parcels" with the tool "print_label"
      And the host, after the bridge, asks "print_label" with the reason "printing costs money"
      When the model calls "print_label"
      Then the tool "print_label" does not run
      And call "1" fails

    @rule:registerTool.a-question-of-the-host-is-asked @case:again
    Scenario: What was allowed once is asked about again
      Given the host's approval service is allowed-once
      And a package "parcels" with the tool "print_label"
      And the host, after the bridge, asks "print_label" with the reason "printing costs money"
      And the model first calls "print_label"
      When the model calls "print_label"
      Then the tool "print_label" runs 2 times
      And the host's policy sees {} for call "2"

    @rule:registerTool.a-question-of-the-host-is-asked @case:refused
    Scenario Outline: A package's tool that the user does not allow does not run
      Given the host's approval service is <answer>
      And a package "parcels" with the tool "print_label"
      And the host asks "print_label" with the reason "printing costs money"
      When the model calls "print_label"
      Then the tool "print_label" does not run
      And call "1" fails

      Examples:
        | answer     |
        | rejected   |
        | unanswered |
        | missing    |

  Rule: Arguments

    @rule:registerTool.an-invalid-call-does-not-run
    Scenario: A call with a wrong argument is an error that the model can mend
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {copies: {type: number}}, required: [copies]}
        """
      When the model calls "print_label" with {"copies": "many"}
      Then the tool "print_label" does not run
      And call "1" fails and says "Validation failed for tool"
      And call "1" fails and says "print_label"
      And the model is asked 2 times

    @rule:registerTool.an-invalid-call-does-not-run @case:after-a-valid-one
    Scenario: A call with a wrong argument is an error after a call that passed
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {copies: {type: number}}, required: [copies]}
        """
      And the model first calls "print_label" with {"copies": 1}
      And the model first calls "print_label" with {"copies": "many"}
      When the model calls "print_label" with {"copies": "2"}
      Then call "2" fails and says "Validation failed for tool"
      And call "3" of "print_label" runs with {"copies": 2}
      And the tool "print_label" runs 2 times

    @rule:registerTool.an-invalid-call-does-not-run @case:time-and-again
    Scenario: A call that fits runs after four that did not
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {copies: {type: number}}, required: [copies]}
        """
      And the model first calls "print_label" with {"copies": "many"}
      And the model first calls "print_label" with {}
      And the model first calls "print_label" with {"copies": "more"}
      And the model first calls "print_label" with {"copies": []}
      When the model calls "print_label" with {"copies": 5}
      Then the tool "print_label" runs 1 times
      And call "4" fails and says "Validation failed for tool"
      And call "5" succeeds

    @rule:registerTool.an-invalid-call-does-not-run @case:by-its-own-schema
    Scenario Outline: Of two tools whose schemas share <what>, each checks its calls by its own
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: {<shared>, type: object, properties: {copies: {type: number}}, required: [copies]}
        """
      And package "parcels" registers the tool "weigh_parcel" with
        """
        parameters: {<shared>, type: object, properties: {copies: {type: number, maximum: 5}}, required: [copies]}
        """
      And the model first calls "print_label" with {"copies": 9}
      When the model calls "weigh_parcel" with {"copies": 9}
      And the model calls "weigh_parcel" with {"copies": 3}
      Then call "1" of "print_label" runs with {"copies": 9}
      And call "2" fails and says "Validation failed for tool"
      And call "3" of "weigh_parcel" runs with {"copies": 3}

      Examples:
        | what            | shared                   |
        | their $id       | $id: "urn:parcels:label" |
        | names and title | title: label             |

    @rule:registerTool.an-invalid-call-does-not-run @case:by-its-own-definitions
    Scenario: Of two tools whose schemas define other things by one name, each checks its calls by its own
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {copies: {$ref: '#/$defs/amount'}}, $defs: {amount: {type: number}}, required: [copies]}
        """
      And package "parcels" registers the tool "weigh_parcel" with
        """
        parameters: {type: object, properties: {copies: {$ref: '#/$defs/amount'}}, $defs: {amount: {type: number, maximum: 5}}, required: [copies]}
        """
      And the model first calls "print_label" with {"copies": 9}
      When the model calls "weigh_parcel" with {"copies": 9}
      And the model calls "print_label" with {"copies": 8}
      Then call "1" of "print_label" runs with {"copies": 9}
      And call "2" fails and says "Validation failed for tool"
      And call "3" of "print_label" runs with {"copies": 8}

    @rule:registerTool.the-whole-schema-is-enforced @case:again
    Scenario: Equal arguments pass each time or never
      Given a package "parcels" with the tool "print_label" and
        """
        parameters:
          type: object
          properties:
            parcel_code: {type: string, pattern: "[A-Z]{2}[0-9]"}
            parcel_owner: {type: string, format: email}
          patternProperties: {"^note_": {type: string, pattern: "[a-z]$"}}
        """
      And the model first calls "print_label" with {"parcel_code": "AB1", "parcel_owner": "jo@example.org", "note_one": "light"}
      And the model first calls "print_label" with {"parcel_code": "AB1", "parcel_owner": "jo@example.org", "note_one": "light"}
      And the model first calls "print_label" with {"parcel_code": "ab1", "parcel_owner": "jo@example.org", "note_one": "light"}
      And the model first calls "print_label" with {"parcel_code": "ab1", "parcel_owner": "jo@example.org", "note_one": "light"}
      When the model calls "print_label" with {"parcel_code": "AB1", "parcel_owner": "jo@example.org", "note_one": "light"}
      Then call "1" succeeds
      And call "2" succeeds
      And call "3" fails and says "parcel_code"
      And call "4" fails and says "parcel_code"
      And call "5" succeeds

    @rule:registerTool.a-validation-error-names-each-property @case:wrong
    Scenario Outline: Every wrong or missing property is named
      Given a package "parcels" with the tool "print_label" and
        """
        parameters:
          type: object
          properties:
            copies: {type: number}
            tray: {type: string, enum: [upper, lower]}
            owner: {type: object, properties: {city: {type: string}}, required: [city]}
            stops: {type: array, items: {type: number}}
          required: [copies]
        """
      When the model calls "print_label" with {"tray": "middle", "owner": {}, "stops": [1, "x"]}
      Then call "1" fails and says "<path>"

      Examples:
        | path       |
        | copies     |
        | tray       |
        | owner.city |
        | stops.1    |

    @rule:registerTool.a-validation-error-names-each-property @case:of-its-own-call
    Scenario: What was wrong with an earlier call is not named
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {copies: {type: number}, tray: {type: string, enum: [upper, lower]}}}
        """
      And the model first calls "print_label" with {"copies": "many"}
      When the model calls "print_label" with {"tray": "middle"}
      Then call "1" fails and says "copies"
      And call "2" fails and says "tray"
      And call "2" fails and says nothing of "copies"

    @rule:registerTool.a-validation-error-shows-what-it-received @case:of-its-own-call
    Scenario: Two calls with the same problem each show what they received
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {copies: {type: number}}}
        """
      And the model first calls "print_label" with {"copies": "a few"}
      When the model calls "print_label" with {"copies": "plenty"}
      Then call "1" fails and says "a few"
      And call "2" fails and says "plenty"
      And call "2" fails and says nothing of "a few"

    @rule:registerTool.arguments-are-coerced-as-on-pi @case:long
    Scenario: A text of two hundred thousand characters reaches the tool whole
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {label: {type: string}, copies: {type: number}}}
        """
      When the model calls "print_label" with {"label": {"$": "repeat", "text": "a long one", "times": 20000}, "copies": "2"}
      Then the tool "print_label" runs with {"label": {"$": "repeat", "text": "a long one", "times": 20000}, "copies": 2}

    @rule:registerTool.arguments-are-coerced-as-on-pi @case:each-call
    Scenario: The arguments of each call of a tool are coerced
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {copies: {type: number}}}
        """
      And the model first calls "print_label" with {"copies": "7"}
      And the model first calls "print_label" with {"copies": "8"}
      When the model calls "print_label" with {"copies": "9"}
      Then call "1" of "print_label" runs with {"copies": 7}
      And call "2" of "print_label" runs with {"copies": 8}
      And call "3" of "print_label" runs with {"copies": 9}

    @rule:registerTool.every-agents-arguments-are-checked @case:coerced
    Scenario: The arguments of every agent's calls are prepared, then coerced
      Given an agent "main"
      And an agent "other"
      And a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {copies: {type: number}}, required: [copies]}
        prepare: {returns: {copies: "7"}}
        """
      When the model calls "print_label"
      And the model of agent "other" calls "print_label"
      Then call "1" of "print_label" runs with {"copies": 7}
      And call "2" of "print_label" runs with {"copies": 7}

    @rule:registerTool.every-agents-arguments-are-checked @case:invalid
    Scenario: An invalid call of any agent does not run
      Given an agent "main"
      And an agent "other"
      And a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {copies: {type: number}}, required: [copies]}
        """
      When the model calls "print_label" with {"copies": 1}
      And the model of agent "other" calls "print_label"
      Then call "1" succeeds
      And the tool "print_label" runs 1 times
      And call "2" fails and says "Validation failed for tool"

    @rule:registerTool.every-agents-arguments-are-checked @case:by-its-own-schema
    Scenario: The arguments of an agent's calls are coerced to the schema that its own work registered last
      Given an agent "main"
      And an agent "other"
      And a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {copies: {type: number}}, required: [copies]}
        """
      And package "parcels" registers the tool "swap_printer"
      And the tool "swap_printer" calls registerTool with [{"name": "print_label", "label": "print", "description": "prints by name", "parameters": {"type": "object", "properties": {"copies": {"type": "string"}}, "required": ["copies"]}}]
      And the model of agent "other" first calls in one message
        | tool        | arguments       |
        | print_label | {"copies": "2"} |
      When the model calls "swap_printer"
      And the user says "print" to ["other"]
      And the model calls "print_label" with {"copies": 7}
      Then call "3" of "print_label" runs with {"copies": "7"}

    @rule:registerTool.large-and-dirty-text-passes @case:half-a-surrogate-pair-of-the-model
    Scenario: An argument that ends in half a surrogate pair
      Given a package "parcels" with the tool "print_label"
      When the model calls "print_label" with the argument text
        """
        {"label": "a\ud83d", "lines": ["\udce6b"]}
        """
      Then the tool "print_label" runs with {"label": {"$": "escaped", "text": "a\\ud83d"}, "lines": [{"$": "escaped", "text": "\\udce6b"}]}
      And call "1" succeeds

    @rule:registerTool.text-that-is-no-json-does-not-run
    Scenario Outline: Text that is not JSON runs nothing
      Given a package "parcels" with the tool "print_label"
      When the model calls "print_label" with the argument text
        """
        <text>
        """
      Then the tool "print_label" does not run
      And call "1" fails

      Examples:
        | text         |
        | two labels   |
        | {"copies": 2 |
        | {copies: 2}  |

    @rule:registerTool.prepare-arguments-runs-before-validation
    Scenario: Arguments in an old form are prepared, then coerced
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {copies: {type: number}}, required: [copies]}
        prepare: {ops: [{op: set, path: [copies], value: "7"}, {op: delete, path: [amount]}]}
        """
      When the model calls "print_label" with {"amount": "seven"}
      Then the tool "print_label" runs with {"copies": 7}
      And call "1" succeeds

    @rule:registerTool.prepare-arguments-runs-before-validation @case:each-its-own
    Scenario Outline: Each tool has the preparation that it was registered with
      Given a package "parcels" with the tool "print_label" and
        """
        prepare: {returns: {prepared: for the label}}
        """
      And package "parcels" registers the tool "weigh" with
        """
        prepare: {returns: {prepared: for the scale}}
        """
      And package "parcels" registers the tool "stack"
      When the model calls "<tool>" with {"amount": 7}
      Then the tool "<tool>" runs with <given>

      Examples:
        | tool        | given                         |
        | print_label | {"prepared": "for the label"} |
        | weigh       | {"prepared": "for the scale"} |
        | stack       | {"amount": 7}                 |

    @rule:registerTool.prepare-arguments-runs-before-validation @case:each-package
    Scenario: The tools of each package are prepared
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {copies: {type: number}}}
        prepare: {returns: {copies: "7"}}
        """
      And a package "letters" with the tool "seal_letter" and
        """
        parameters: {type: object, properties: {seals: {type: number}}}
        prepare: {returns: {seals: "3"}}
        """
      And the model first calls "print_label" with {"copies": 1}
      When the model calls "seal_letter" with {"seals": 1}
      Then the tool "print_label" runs with {"copies": 7}
      And the tool "seal_letter" runs with {"seals": 3}

    @rule:registerTool.prepare-arguments-runs-before-validation @case:empty
    Scenario: Arguments without a member are prepared, too
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {copies: {type: number}}, required: [copies]}
        prepare: {ops: [{op: set, path: [copies], value: "1"}]}
        """
      When the model calls "print_label" with {}
      Then the tool "print_label" runs with {"copies": 1}

    @rule:registerTool.prepare-arguments-runs-before-validation @case:each-call
    Scenario: The arguments of each call are prepared, then coerced
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {copies: {type: number}}, required: [copies]}
        prepare: {ops: [{op: set, path: [copies], value: "7"}]}
        """
      And the model first calls "print_label" with {"label": 1}
      When the model calls "print_label" with {"label": 2}
      Then call "1" of "print_label" runs with {"label": 1, "copies": 7}
      And call "2" of "print_label" runs with {"label": 2, "copies": 7}

    @rule:registerTool.prepare-arguments-runs-once
    Scenario: A preparation that adds something adds it once
      Given a package "parcels" with the tool "print_label" and
        """
        prepare: {ops: [{op: append, path: [stops], value: depot}]}
        """
      When the model calls "print_label" with {"stops": ["here"]}
      Then the tool "print_label" runs with {"stops": ["here", "depot"]}

    @rule:registerTool.prepare-arguments-runs-once @case:changed-by-a-handler
    Scenario: What a handler changes is not prepared once more
      Given a package "parcels" with the tool "print_label" and
        """
        prepare: {ops: [{op: append, path: [stops], value: depot}]}
        """
      And package "rewriter" changes the argument "tray" of "print_label" to "lower"
      When the model calls "print_label" with {"stops": ["here"], "tray": "upper"}
      Then the tool "print_label" runs with {"stops": ["here", "depot"], "tray": "lower"}

    @rule:registerTool.prepare-arguments-runs-once @case:beside-another
    Scenario: Preparations of calls that run beside each other add once each
      Given a package "parcels" with the tool "print_label" and
        """
        executionMode: parallel
        prepare: {ops: [{op: append, path: [stops], value: depot}]}
        """
      When the model calls in one message
        | tool        | arguments           |
        | print_label | {"stops": ["here"]} |
        | print_label | {"stops": ["afar"]} |
      Then call "1" of "print_label" runs with {"stops": ["here", "depot"]}
      And call "2" of "print_label" runs with {"stops": ["afar", "depot"]}

    @rule:registerTool.a-throwing-prepare-arguments-fails-the-call
    Scenario: A preparation that throws is the call's error
      Given a package "parcels" with the tool "print_label" and
        """
        prepare: {throws: {$: error, name: Error, message: the old form is gone}}
        """
      When the model calls "print_label"
      Then the tool "print_label" does not run
      And call "1" fails and says "the old form is gone"
      And the model is asked 2 times

    @rule:registerTool.a-throwing-prepare-arguments-fails-the-call @case:again
    Scenario: A preparation that throws does so for each call
      Given a package "parcels" with the tool "print_label" and
        """
        prepare: {throws: {$: error, name: Error, message: the old form is gone}}
        """
      And the model first calls "print_label"
      When the model calls "print_label"
      Then the tool "print_label" does not run
      And call "1" fails and says "the old form is gone"
      And call "2" fails and says "the old form is gone"

    @rule:registerTool.what-prepare-arguments-returns-is-validated
    Scenario Outline: A preparation that returns <what> makes the call invalid
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {copies: {type: number}}}
        prepare: {returns: <value>}
        """
      When the model calls "print_label" with {"copies": 7}
      Then the tool "print_label" does not run
      And call "1" fails and says "Validation failed for tool"

      Examples:
        | what           | value          |
        | nothing        | {$: undefined} |
        | null           | null           |
        | a text         | copies         |
        | a wrong object | {copies: many} |

    @rule:registerTool.the-log-keeps-what-the-model-wrote @case:coerced
    Scenario: A coerced argument is logged as it was written
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {copies: {type: number}}}
        """
      When the model calls "print_label" with {"copies": "7"}
      Then the tool "print_label" runs with {"copies": 7}
      And the log keeps {"copies": "7"} as the arguments of call "1"

    @rule:registerTool.the-log-keeps-what-the-model-wrote @case:prepared
    Scenario: A prepared argument is logged as it was written
      Given a package "parcels" with the tool "print_label" and
        """
        prepare: {returns: {copies: 7}}
        """
      When the model calls "print_label" with {"amount": "seven"}
      Then the tool "print_label" runs with {"copies": 7}
      And the log keeps {"amount": "seven"} as the arguments of call "1"

    @rule:registerTool.the-log-keeps-what-the-model-wrote @case:long
    Scenario: A text of two hundred thousand characters is logged whole
      Given a package "parcels" with the tool "print_label"
      When the model calls "print_label" with {"label": {"$": "repeat", "text": "a long one", "times": 20000}}
      Then the log keeps {"label": {"$": "repeat", "text": "a long one", "times": 20000}} as the arguments of call "1"

    @rule:registerTool.edits-of-prepare-arguments-never-reach-the-log
    Scenario: What a preparation edits in place is not in the log
      Given a package "parcels" with the tool "print_label" and
        """
        prepare: {ops: [{op: set, path: [tray], value: upper}]}
        """
      When the model calls "print_label" with {"copies": 7}
      Then the tool "print_label" runs with {"copies": 7, "tray": "upper"}
      And the log keeps {"copies": 7} as the arguments of call "1"

    @rule:registerTool.unknown-properties-are-kept
    Scenario: An argument that the schema does not know reaches the tool
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {copies: {type: number}}}
        """
      When the model calls "print_label" with {"copies": 1, "tray": "upper", "owner": {"city": null}}
      Then the tool "print_label" runs with {"copies": 1, "tray": "upper", "owner": {"city": null}}

    @rule:registerTool.defaults-are-not-filled-in @case:optional
    Scenario: An absent argument stays absent
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {copies: {type: number, default: 1}, tray: {type: string, default: upper}}}
        """
      When the model calls "print_label" with {"copies": 2}
      Then the tool "print_label" runs with {"copies": 2}

    @rule:registerTool.defaults-are-not-filled-in @case:required
    Scenario: A required argument with a default is missing all the same
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {copies: {type: number, default: 1}}, required: [copies]}
        """
      When the model calls "print_label"
      Then the tool "print_label" does not run
      And call "1" fails and says "copies"

    @rule:registerTool.arguments-are-each-calls-own
    Scenario: What a tool does to its arguments stays with it
      Given a package "parcels" with the tool "print_label"
      And package "parcels" registers the tool "weigh"
      And the tool "print_label" does
        """
        ops: [{op: append, path: [stops], value: nowhere}]
        returns: {content: [{type: text, text: done}], details: {}}
        """
      When the model calls in one message
        | tool        | arguments           |
        | print_label | {"stops": ["here"]} |
        | weigh       | {"stops": ["here"]} |
      Then the tool "weigh" runs with {"stops": ["here"]}
      And the log keeps {"stops": ["here"]} as the arguments of call "1"
      And the log keeps {"stops": ["here"]} as the arguments of call "2"

    @rule:registerTool.arguments-are-each-calls-own @case:at-the-same-time
    Scenario: Calls of a parallel tool each run with their own arguments
      Given a package "parcels" with the tool "print_label" and
        """
        executionMode: parallel
        """
      When the model calls in one message
        | tool        | arguments    |
        | print_label | {"label": 1} |
        | print_label | {"label": 2} |
        | print_label | {"label": 3} |
      Then call "1" of "print_label" runs with {"label": 1}
      And call "2" of "print_label" runs with {"label": 2}
      And call "3" of "print_label" runs with {"label": 3}

    @rule:registerTool.a-tool-may-change-its-arguments
    Scenario: A tool changes the arguments that it was handed
      Given a package "parcels" with the tool "print_label"
      And the tool "print_label" does
        """
        ops: [{op: set, path: [tray], value: lower}]
        returns: {content: [{type: text, text: printed}], details: {}}
        """
      When the model calls "print_label" with {"tray": "upper"}
      Then call "1" succeeds with "printed"

  Rule: What a tool is handed

    @rule:registerTool.on-update-is-always-a-function
    Scenario: A tool may always report progress
      Given a package "parcels" with the tool "print_label"
      When the model calls "print_label"
      Then the tool "print_label" is handed {"onUpdate": "function"} beside its arguments

    @rule:registerTool.execute-gets-the-id-of-its-call
    Scenario: A tool is handed the id that the model gave the call
      Given a package "parcels" with the tool "print_label"
      When the model calls in one message
        | id         | tool        | arguments    |
        | call_first | print_label | {"label": 1} |
        | call_other | print_label | {"label": 2} |
      Then call "call_first" of "print_label" runs with {"label": 1}
      And call "call_other" of "print_label" runs with {"label": 2}

    @rule:registerTool.execute-gets-a-signal-and-a-context
    Scenario: A tool is handed a signal and a context
      Given a package "parcels" with the tool "print_label"
      When the model calls "print_label"
      Then the tool "print_label" is handed {"signal": "AbortSignal", "ctx": "object"} beside its arguments

    @rule:registerTool.a-cancel-reaches-the-running-tool
    Scenario: A running tool hears that the user cancels
      Given a package "parcels" with the tool "print_label"
      And the tool "print_label" does
        """
        acts: [{do: cancel}, {do: hold, kinds: [tool.aborted]}]
        returns: {content: [{type: text, text: stopped in time}], details: {}}
        """
      When the model calls "print_label"
      Then this order holds
        """
        the body of call "1"
        the abort of call "1"
        the end of the body of call "1"
        """

    @rule:registerTool.a-cancel-reaches-the-running-tool @case:a-later-call
    Scenario: A tool hears of the cancel in a later call, too
      Given a package "parcels" with the tool "print_label"
      And the tool "print_label" does
        """
        when: {call: "2"}
        acts: [{do: cancel}, {do: hold, kinds: [tool.aborted]}]
        """
      When the model calls "print_label"
      And the model calls "print_label"
      Then this order holds
        """
        the body of call "2"
        the abort of call "2"
        the end of the body of call "2"
        """

    @rule:registerTool.a-cancel-reaches-every-running-tool
    Scenario: Two tools that run beside each other hear of one cancel
      Given a package "parcels" with the tool "print_label" and
        """
        executionMode: parallel
        """
      And the tool "print_label" does
        """
        when: {call: "1"}
        acts: [{do: hold, kinds: [tool.aborted]}]
        """
      And the tool "print_label" does
        """
        when: {call: "2"}
        acts: [{do: cancel}, {do: hold, kinds: [tool.aborted]}]
        """
      When the model calls in one message
        | tool        |
        | print_label |
        | print_label |
      Then this order holds
        """
        the body of call "1"
        the abort of call "1"
        the end of the body of call "1"
        """
      And this order holds
        """
        the body of call "2"
        the abort of call "2"
        the end of the body of call "2"
        """

    @rule:registerTool.a-cancel-ends-with-its-turn
    Scenario: A tool is called again after its turn was cancelled
      Given a package "parcels" with the tool "print_label"
      And the tool "print_label" does
        """
        when: {nth: 1}
        acts: [{do: cancel}]
        """
      When the model calls "print_label"
      And the model calls "print_label"
      Then the signal of call "2" is not aborted as its body begins
      And call "2" succeeds with "print_label ok"

    @rule:registerTool.a-cancel-ends-with-its-turn @case:another-agent
    Scenario: A tool is called by an agent after another one's turn was cancelled
      Given an agent "main"
      And an agent "other"
      And a package "parcels" with the tool "print_label"
      And package "parcels" registers the tool "weigh_parcel"
      And the tool "print_label" does
        """
        when: {agent: main}
        acts: [{do: cancel}]
        """
      When the model calls "print_label"
      And the model of agent "other" calls "print_label"
      And the model of agent "other" calls "weigh_parcel"
      Then the signal of call "2" is not aborted as its body begins
      And call "2" succeeds with "print_label ok"
      And the signal of call "3" is not aborted as its body begins

    @rule:registerTool.a-cancel-ends-with-its-turn @case:beside-another-agents
    Scenario Outline: A tool runs for one agent while another agent's turn is cancelled
      Given an agent "main"
      And an agent "other"
      And a package "parcels" with the tool "print_label"
      And the tool "print_label" does
        """
        when: {agent: main}
        acts: [{do: hold, kinds: [tool.enter]}, <cancel>]
        """
      And the tool "print_label" does
        """
        when: {agent: other}
        acts: [{do: hold, kinds: [turn.end]}]
        returns: {content: [{type: text, text: printed all the same}], details: {}}
        """
      And the model of agent "main" first calls in one message
        | id        | tool        |
        | cancelled | print_label |
      And the model of agent "other" first calls in one message
        | id    | tool        |
        | other | print_label |
      When the user says "go" to ["main", "other"]
      Then call "other" succeeds with "printed all the same"

      Examples:
        | cancel                  |
        | {do: cancel}            |
        | {do: ctx, call: abort}  |

    @rule:registerTool.a-tool-may-cancel-its-turn
    Scenario: A tool cancels the turn that it runs in
      Given a package "parcels" with the tool "print_label"
      And the tool "print_label" does
        """
        acts: [{do: ctx, call: abort}, {do: hold, kinds: [tool.aborted]}]
        """
      When the model calls "print_label"
      Then this order holds
        """
        the body of call "1"
        the abort of call "1"
        the end of the body of call "1"
        """
      And the model is asked 1 times

    @rule:registerTool.a-tool-may-cancel-its-turn @case:for-another-agent
    Scenario: A tool cancels the turn of the agent that it runs for
      Given an agent "main"
      And an agent "other"
      And a package "parcels" with the tool "print_label"
      And the tool "print_label" does
        """
        when: {agent: other}
        acts: [{do: ctx, call: abort}, {do: hold, kinds: [tool.aborted]}]
        """
      When the model calls "print_label"
      And the model of agent "other" calls "print_label"
      Then this order holds
        """
        the end of the body of call "1"
        the body of call "2"
        the abort of call "2"
        the end of the body of call "2"
        """

    @rule:registerTool.sequential-tools-never-overlap
    Scenario Outline: A sequential tool is alone, whether its call comes <place>
      Given a package "parcels" with the tool "press" and
        """
        executionMode: sequential
        """
      And package "parcels" registers the tool "sort"
      And the tool "press" does
        """
        acts: [{do: hold, kinds: [tool.enter]}]
        """
      And the tool "sort" does
        """
        acts: [{do: hold, kinds: [tool.enter]}]
        """
      When the model calls in one message
        | tool     |
        | <first>  |
        | <second> |
      Then this order holds
        """
        the body of call "1"
        the end of the body of call "1"
        the body of call "2"
        the end of the body of call "2"
        """

      Examples:
        | place  | first | second |
        | first  | press | sort   |
        | second | sort  | press  |
        | twice  | press | press  |

    @rule:registerTool.sequential-tools-never-overlap @case:beside-a-parallel-tool
    Scenario: A sequential tool stays alone when a parallel one is registered after it
      Given a package "parcels" with the tool "press" and
        """
        executionMode: sequential
        """
      And package "parcels" registers the tool "stack" with
        """
        executionMode: parallel
        """
      And the tool "press" does
        """
        acts: [{do: hold, kinds: [tool.enter]}]
        """
      When the model calls in one message
        | tool  |
        | press |
        | press |
      Then this order holds
        """
        the body of call "1"
        the end of the body of call "1"
        the body of call "2"
        the end of the body of call "2"
        """

    @rule:registerTool.parallel-tools-overlap
    Scenario: Two parallel tools run at the same time
      Given a package "parcels" with the tool "sort" and
        """
        executionMode: parallel
        """
      And package "parcels" registers the tool "stack" with
        """
        executionMode: parallel
        """
      And the tool "sort" does
        """
        acts: [{do: hold, kinds: [tool.enter]}]
        """
      When the model calls in one message
        | tool  |
        | sort  |
        | stack |
      Then this order holds
        """
        the body of call "1"
        the body of call "2"
        the end of the body of call "1"
        """

    @rule:registerTool.parallel-tools-overlap @case:late
    Scenario: Calls of a parallel tool that was registered at work run at the same time
      Given a package "parcels" with the tool "open_shop"
      And the tool "open_shop" calls registerTool with [{"name": "print_label", "label": "print", "description": "late", "executionMode": "parallel", "parameters": {"type": "object", "properties": {"copies": {"type": "number"}}}}]
      And the tool "print_label" does
        """
        when: {call: "2"}
        acts: [{do: hold, kinds: [tool.enter]}]
        """
      And the model first calls "open_shop"
      When the model calls in one message
        | tool        |
        | print_label |
        | print_label |
      Then this order holds
        """
        the body of call "2"
        the body of call "3"
        the end of the body of call "2"
        """

    @rule:registerTool.a-batch-of-unmarked-tools-ends
    Scenario: Two tools that wait for each other a while both end
      Given a package "parcels" with the tool "sort"
      And package "parcels" registers the tool "stack"
      And the tool "sort" does
        """
        acts: [{do: hold, kinds: [tool.enter]}]
        returns: {content: [{type: text, text: sorted}], details: {}}
        """
      And the tool "stack" answers "stacked"
      When the model calls in one message
        | tool  |
        | sort  |
        | stack |
      Then call "1" succeeds with "sorted"
      And call "2" succeeds with "stacked"
      And the model is asked 2 times

    @rule:registerTool.unmarked-tools-run-one-after-another @on:bridge
    Scenario: On the host a tool without a mode runs alone
      Given a package "parcels" with the tool "sort"
      And package "parcels" registers the tool "stack"
      And the tool "sort" does
        """
        acts: [{do: hold, kinds: [tool.enter]}]
        """
      When the model calls in one message
        | tool  |
        | sort  |
        | stack |
      Then this order holds
        """
        the end of the body of call "1"
        the body of call "2"
        """

    @rule:registerTool.unmarked-tools-run-one-after-another @on:pi
    Scenario: On Pi a tool without a mode runs beside the others
      Given a package "parcels" with the tool "sort"
      And package "parcels" registers the tool "stack"
      And the tool "sort" does
        """
        acts: [{do: hold, kinds: [tool.enter]}]
        """
      When the model calls in one message
        | tool  |
        | sort  |
        | stack |
      Then this order holds
        """
        the body of call "2"
        the end of the body of call "1"
        """

  Rule: Results

    @rule:registerTool.every-agents-results-are-whole
    Scenario: The results of each call of each agent are whole
      Given an agent "main"
      And an agent "other"
      And a package "parcels" with the tool "print_label"
      And the tool "print_label" does
        """
        returns: {content: [{type: text, text: one}, {type: text, text: two}], details: {labels: 2}}
        """
      And package "watcher" listens to tool_result
      When the model calls "print_label"
      And the model of agent "other" calls "print_label"
      And the model calls "print_label"
      And the model of agent "other" calls "print_label"
      Then the log keeps {"isError": false, "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]} as the result of call "1"
      And the log keeps {"isError": false, "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]} as the result of call "2"
      And the log keeps {"isError": false, "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]} as the result of call "3"
      And the log keeps {"isError": false, "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]} as the result of call "4"
      And package "watcher" sees tool_result of call "2" with {"details": {"labels": 2}}
      And package "watcher" sees tool_result of call "4" with {"details": {"labels": 2}}

    @rule:registerTool.text-results-reach-log-and-model @case:again
    Scenario: A tool that is called three times with equal arguments and answers alike
      Given a package "parcels" with the tool "print_label"
      And the tool "print_label" answers "one label"
      And the model first calls "print_label" with {"copies": 1}
      And the model first calls "print_label" with {"copies": 1}
      When the model calls "print_label" with {"copies": 1}
      Then the tool "print_label" runs 3 times
      And call "1" succeeds with "one label"
      And call "2" succeeds with "one label"
      And call "3" succeeds with "one label"

    @rule:registerTool.text-results-reach-log-and-model @case:with-a-field-named-error
    Scenario: A result that has a field named error beside its blocks
      Given a package "parcels" with the tool "print_label"
      And the tool "print_label" does
        """
        returns: {content: [{type: text, text: one label}], details: {}, error: no ink left}
        """
      When the model calls "print_label"
      Then call "1" succeeds with "one label"

    @rule:registerTool.every-agents-pictures-are-kept
    Scenario: The pictures of each call of each agent
      Given an agent "main"
      And an agent "other"
      And a package "camera" with the tool "take_picture"
      And the tool "take_picture" does
        """
        returns: {content: [{type: text, text: here}, {type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}], details: {}}
        """
      When the model calls "take_picture"
      And the model of agent "other" calls "take_picture"
      And the model calls "take_picture"
      And the model of agent "other" calls "take_picture"
      Then the log keeps {"isError": false, "content": [{"type": "text", "text": "here"}, {"type": "image"}]} as the result of call "1"
      And the log keeps {"isError": false, "content": [{"type": "text", "text": "here"}, {"type": "image"}]} as the result of call "2"
      And the log keeps {"isError": false, "content": [{"type": "text", "text": "here"}, {"type": "image"}]} as the result of call "3"
      And the log keeps {"isError": false, "content": [{"type": "text", "text": "here"}, {"type": "image"}]} as the result of call "4"

    @rule:registerTool.text-results-reach-log-and-model @case:after-an-update
    Scenario Outline: A result <what> is not filled up from an update
      Given a package "parcels" with the tool "print_label"
      And the tool "print_label" does
        """
        acts: [{do: update, update: {content: [{type: text, text: half way}], details: {printed: 21}}}]
        returns: <result>
        """
      When the model calls "print_label"
      Then call "1" succeeds
      And request 2 carries nothing of "half way"
      And the log keeps {"isError": false, "content": <kept>} as the result of call "1"

      Examples:
        | what           | result                                             | kept                                   |
        | without blocks | {content: [], details: {}}                         | []                                     |
        | that is blank  | {content: [{type: text, text: ""}], details: {}}   | [{"type": "text", "text": ""}]         |

    @rule:registerTool.calls-and-results-look-like-a-natives-in-the-log
    Scenario Outline: A <owner> tool's call and result have the host's form
      Given a native tool "native_scale"
      And a package "parcels" with the tool "parcel_scale"
      And the native tool "native_scale" answers "12 kg"
      And the tool "parcel_scale" answers "12 kg"
      When the model calls "<tool>" with {"parcel_code": "AB1"}
      Then the log keeps {"parcel_code": "AB1"} as the arguments of call "1"
      And the log keeps {"content": [{"type": "text", "text": "12 kg"}], "isError": false} as the result of call "1"

      Examples:
        | owner     | tool         |
        | native    | native_scale |
        | package's | parcel_scale |

    @rule:registerTool.whatever-is-thrown-is-one-error @case:the-next-call
    Scenario: A tool that threw runs when it is called again
      Given a package "parcels" with the tool "print_label"
      And the tool "print_label" does
        """
        when: {call: "1"}
        throws: {$: error, name: Error, message: out of paper}
        """
      And the model first calls "print_label"
      When the model calls "print_label"
      Then call "1" fails and says "out of paper"
      And call "2" succeeds with "print_label ok"

    @rule:registerTool.a-broken-picture-spares-the-others @case:the-next-call
    Scenario: A picture of the call after one whose picture is broken
      Given a package "parcels" with the tool "print_label"
      And the tool "print_label" does
        """
        when: {nth: 1}
        returns: {content: [{type: image, mimeType: image/png, data: bm90IGEgcGljdHVyZSBhdCBhbGwgMDEyMzQ1Njc4OQ==}], details: {}}
        """
      And the tool "print_label" does
        """
        when: {nth: 2}
        returns: {content: [{type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}], details: {}}
        """
      And package "parcels" listens to tool_result
      And the model first calls "print_label"
      When the model calls "print_label"
      Then package "parcels" sees tool_result of call "2" with {"content": [{"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg=="}], "isError": false}

    @rule:registerTool.a-thrown-error-reaches-the-model @case:after-a-success
    Scenario: What a tool throws that answered before
      Given a package "parcels" with the tool "print_label"
      And the tool "print_label" does
        """
        when: {nth: 2}
        throws: {$: error, name: Error, message: out of paper}
        """
      And the model first calls "print_label"
      When the model calls "print_label"
      Then call "1" succeeds with "print_label ok"
      And call "2" fails and says "out of paper"

    @rule:registerTool.lost-details-of-an-error-are-announced @on:bridge
    Scenario: Details that an error cannot carry are announced
      Given a package "parcels" with the tool "parcel_label_printer"
      And the tool "parcel_label_printer" does
        """
        returns: {content: [{type: text, text: out of paper}], details: {tray: 3}}
        """
      And package "parcels" answers tool_result with
        """
        returns: {isError: true}
        """
      When the model calls "parcel_label_printer"
      Then call "1" fails and says "out of paper"
      And either the log keeps {"details": {"tray": 3}} as the result of call "1", or a notice names "parcel_label_printer"

    @rule:registerTool.lost-details-of-an-error-are-announced @on:pi
    Scenario: On Pi an error keeps its details
      Given a package "parcels" with the tool "parcel_label_printer"
      And the tool "parcel_label_printer" does
        """
        returns: {content: [{type: text, text: out of paper}], details: {tray: 3}}
        """
      And package "parcels" answers tool_result with
        """
        returns: {isError: true}
        """
      When the model calls "parcel_label_printer"
      Then the log keeps {"details": {"tray": 3}, "isError": true} as the result of call "1"

  Rule: Names

    @rule:registerTool.the-last-of-one-package-wins
    Scenario: The second of two registrations counts
      Given a package "parcels" with the tool "print_label" and
        """
        tag: first
        description: the first one
        """
      And package "parcels" registers the tool "print_label" with
        """
        tag: second
        description: the second one
        parameters: {type: object, properties: {copies: {type: number}}}
        """
      And the tool "print_label" does
        """
        tag: second
        returns: {content: [{type: text, text: from the second}], details: {}}
        """
      When the model calls "print_label" with {"copies": "2"}
      Then request 1 lists "print_label" once, as the tool that runs call "1"
      And the tool "print_label" runs with {"copies": 2}
      And call "1" succeeds with "from the second"

    @rule:registerTool.a-name-of-another-package @case:one-runs
    Scenario: Of two packages' tools of one name, one runs and the other is visibly refused
      Given a package "parcels" with the tool "doubled_label_printer" and
        """
        description: the printer of parcels
        """
      And a package "letters" with the tool "doubled_label_printer" and
        """
        description: the printer of letters
        """
      When the model calls "doubled_label_printer"
      Then call "1" succeeds
      And request 1 lists "doubled_label_printer" once, as the tool that runs call "1"
      And either package "parcels" runs call "1", or its "doubled_label_printer" is visibly refused
      And either package "letters" runs call "1", or its "doubled_label_printer" is visibly refused

    @rule:registerTool.a-name-of-another-package @case:others-live
    Scenario Outline: A doubled name harms no other tool
      Given a native tool "native_scale"
      And a package "parcels" with the tool "doubled_label_printer"
      And package "parcels" registers the tool "parcel_scale"
      And a package "letters" with the tool "doubled_label_printer"
      And package "letters" registers the tool "letter_scale"
      When the model calls "<tool>"
      Then the tool "<tool>" runs 1 times
      And call "1" succeeds

      Examples:
        | tool         |
        | native_scale |
        | parcel_scale |
        | letter_scale |

    @rule:registerTool.a-name-of-another-package @case:two-names
    Scenario: Of two names that two packages share, each refusal is visible
      Given a package "parcels" with the tool "doubled_label_printer"
      And package "parcels" registers the tool "doubled_parcel_scale"
      And a package "letters" with the tool "doubled_label_printer"
      And package "letters" registers the tool "doubled_parcel_scale"
      When the model calls in one message
        | tool                  |
        | doubled_label_printer |
        | doubled_parcel_scale  |
      Then call "1" succeeds
      And call "2" succeeds
      And either package "parcels" runs call "1", or its "doubled_label_printer" is visibly refused
      And either package "parcels" runs call "2", or its "doubled_parcel_scale" is visibly refused
      And either package "letters" runs call "1", or its "doubled_label_printer" is visibly refused
      And either package "letters" runs call "2", or its "doubled_parcel_scale" is visibly refused

    @rule:registerTool.the-first-loaded-package-wins
    Scenario: The package that was loaded first keeps the name
      Given a package "parcels" with the tool "doubled_label_printer" and
        """
        tag: of parcels
        """
      And a package "letters" with the tool "doubled_label_printer" and
        """
        tag: of letters
        """
      And the tool "doubled_label_printer" does
        """
        tag: of letters
        throws: {$: error, name: Error, message: the second one runs}
        """
      When the model calls "doubled_label_printer"
      Then call "1" succeeds

    @rule:registerTool.the-first-loaded-package-wins @case:registered-later
    Scenario: The package that was loaded first takes the name that another one had registered before
      Given a package "parcels" with the tool "open_shop"
      And the tool "open_shop" calls registerTool with [{"name": "doubled_label_printer", "description": "of parcels", "parameters": {"type": "object", "properties": {}}}]
      And a package "letters" with the tool "doubled_label_printer" and
        """
        description: of letters
        """
      And the model first calls "open_shop"
      When the model calls "doubled_label_printer"
      Then request 1 shows "doubled_label_printer" with
        """
        description: of letters
        """
      And request 2 shows "doubled_label_printer" with
        """
        description: of parcels
        """

    @rule:registerTool.the-first-loaded-package-wins @case:in-the-prompt
    Scenario: The package that was loaded first has its words in the prompt, and the other one has none
      Given a package "parcels" with the tool "doubled_label_printer" and
        """
        promptSnippet: Prints labels for parcels
        """
      And a package "letters" with the tool "doubled_label_printer" and
        """
        promptSnippet: Prints labels for letters
        promptGuidelines: [Lick every stamp]
        """
      When the user says "hello"
      Then request 1 lists "doubled_label_printer"
      And the system prompt of request 1 has "Prints labels for parcels"
      And the system prompt of request 1 lacks "Prints labels for letters"
      And the system prompt of request 1 lacks "Lick every stamp"

    @rule:registerTool.a-shared-packages-late-tool-is-every-agents
    Scenario: A tool that a handler registers is every agent's, where they share the package
      Given an agent "main"
      And an agent "other"
      And a package "parcels" with the tool "open_shop"
      And package "parcels" answers tool_call with
        """
        when: {nth: 1}
        acts: [{do: pi, call: registerTool, args: [{name: print_label, description: prints, parameters: {type: object, properties: {}}}]}]
        """
      When the model calls "open_shop"
      And the model of agent "other" calls "print_label"
      And the model calls "print_label"
      Then request 2 lists "print_label"
      And request 1 of agent "other" lists "print_label"
      And call "2" succeeds with "print_label ok"
      And call "3" succeeds with "print_label ok"

    @rule:registerTool.a-name-of-a-native-tool @case:one-runs
    Scenario: Of a native tool and a package's of one name, one is listed and runs
      Given a native tool "shared_label_printer"
      And a package "parcels" with the tool "shared_label_printer"
      When the model calls "shared_label_printer"
      Then call "1" succeeds
      And request 1 lists "shared_label_printer" once, as the tool that runs call "1"
      And either package "parcels" runs call "1", or its "shared_label_printer" is visibly refused

    @rule:registerTool.a-name-of-a-native-tool-for-every-agent
    Scenario: Of a native tool and a package's of one name, one runs for every agent
      Given an agent "main"
      And an agent "other"
      And a native tool "shared_label_printer"
      And a package "parcels" with the tool "shared_label_printer"
      When the model calls "shared_label_printer"
      And the model of agent "other" calls "shared_label_printer"
      Then call "2" succeeds
      And either package "parcels" runs call "1", or its "shared_label_printer" is visibly refused
      And either package "parcels" runs call "2", or its "shared_label_printer" is visibly refused

    @rule:registerTool.a-name-of-a-native-tool-for-every-agent @case:while-they-work
    Scenario: Of a native tool and one registered while agents are at work, one runs for every agent
      Given an agent "main"
      And an agent "other"
      And a native tool "shared_label_printer"
      And a package "parcels" with the tool "open_shop"
      And the tool "open_shop" calls registerTool with [{"name": "shared_label_printer", "description": "the package's", "parameters": {"type": "object", "properties": {}}}]
      When the model calls "open_shop"
      And the model of agent "other" calls "open_shop"
      And the model calls "shared_label_printer"
      And the model of agent "other" calls "shared_label_printer"
      Then call "3" succeeds
      And call "4" succeeds
      And either package "parcels" runs call "3", or its "shared_label_printer" is visibly refused
      And either package "parcels" runs call "4", or its "shared_label_printer" is visibly refused

    @rule:registerTool.a-name-of-a-native-tool-for-every-agent @case:registered-again
    Scenario: Of a native tool and one registered twice, one runs for an agent that comes later
      Given an agent "main"
      And a native tool "shared_label_printer"
      And a package "parcels" with the tool "shared_label_printer"
      And package "parcels" registers the tool "shared_label_printer"
      When the model calls "shared_label_printer"
      And an agent "other" is created
      And the model of agent "other" calls "shared_label_printer"
      Then call "2" succeeds
      And either package "parcels" runs call "1", or its "shared_label_printer" is visibly refused
      And either package "parcels" runs call "2", or its "shared_label_printer" is visibly refused

    @rule:registerTool.a-name-of-a-native-tool-for-every-agent @case:an-id-that-comes-back
    Scenario: Of a native tool and a package's of one name, one runs for an agent with the id of one that has ended
      Given an agent "main"
      And an agent "other"
      And a native tool "shared_label_printer"
      And a package "parcels" with the tool "shared_label_printer"
      When the model of agent "other" calls "shared_label_printer"
      And agent "other" is ended
      And an agent "other" is created
      And the model of agent "other" calls "shared_label_printer"
      Then call "2" succeeds
      And either package "parcels" runs call "1", or its "shared_label_printer" is visibly refused
      And either package "parcels" runs call "2", or its "shared_label_printer" is visibly refused

    @rule:registerTool.a-name-of-a-native-tool @case:others-live
    Scenario Outline: A native tool's name harms no other tool
      Given a native tool "shared_label_printer"
      And a native tool "native_scale"
      And a package "parcels" with the tool "shared_label_printer"
      And package "parcels" registers the tool "parcel_scale"
      When the model calls "<tool>"
      Then the tool "<tool>" runs 1 times
      And call "1" succeeds

      Examples:
        | tool         |
        | native_scale |
        | parcel_scale |

    @rule:registerTool.a-name-that-a-native-tool-gave-up
    Scenario: A package registers a name while a native tool has it, and again when that has gone
      Given a native tool "shared_label_printer"
      And a package "parcels" with the tool "open_shop"
      And the tool "open_shop" calls registerTool with [{"name": "shared_label_printer", "description": "the package's", "parameters": {"type": "object", "properties": {}}}]
      When the model calls "open_shop"
      And the native tool "shared_label_printer" is removed
      And the model calls "open_shop"
      And the model calls "shared_label_printer"
      Then request 4 shows "shared_label_printer" with
        """
        description: the package's
        """
      And call "3" succeeds

    @rule:registerTool.a-package-overrides-a-native-tool
    Scenario: A package's tool runs in place of the native one
      Given a native tool "shared_label_printer"
      And a package "parcels" with the tool "shared_label_printer"
      And the native tool "shared_label_printer" answers "the native one"
      And the tool "shared_label_printer" answers "the package's one"
      When the model calls "shared_label_printer"
      Then call "1" succeeds with "the package's one"

    @rule:registerTool.a-package-overrides-a-native-tool @case:shown
    Scenario: The model reads the package's schema and not the native tool's
      Given a native tool "shared_label_printer" with
        """
        description: prints natively
        parameters: {type: object, properties: {tray: {type: string}}, required: [tray]}
        """
      And a package "parcels" with the tool "shared_label_printer" and
        """
        description: prints for parcels
        parameters: {type: object, properties: {copies: {type: number}}, required: [copies]}
        """
      When the model calls "shared_label_printer" with {"copies": "2"}
      Then request 1 shows "shared_label_printer" with
        """
        description: prints for parcels
        properties: {copies: {type: number}}
        """
      And the tool "shared_label_printer" runs with {"copies": 2}

    @rule:registerTool.a-package-overrides-a-native-tool @case:its-texts
    Scenario: The texts of a tool that has a native tool's name are in the prompt
      Given a native tool "shared_label_printer"
      And a package "parcels" with the tool "shared_label_printer" and
        """
        promptSnippet: Prints parcel labels on demand
        promptGuidelines: [Never print on a Sunday]
        """
      And the tool "shared_label_printer" answers "the package's one"
      When the model calls "shared_label_printer"
      Then call "1" succeeds with "the package's one"
      And the system prompt of request 1 has "Prints parcel labels on demand"
      And the system prompt of request 1 has "Never print on a Sunday"

    @rule:registerTool.a-reserved-name @case:refused
    Scenario: The reserved name is visibly refused
      Given the host's reserved transport tool "run_code"
      And a package "parcels" with the tool "run_code"
      When the model calls "run_code"
      Then either package "parcels" runs call "1", or its "run_code" is visibly refused

    @rule:registerTool.a-reserved-name @case:others-live
    Scenario Outline: The reserved name harms no other tool
      Given the host's reserved transport tool "run_code"
      And a native tool "native_scale"
      And a package "parcels" with the tool "run_code"
      And a package "letters" with the tool "letter_scale"
      When the model calls "<tool>"
      Then the tool "<tool>" runs 1 times
      And call "1" succeeds

      Examples:
        | tool         |
        | native_scale |
        | letter_scale |

    @rule:registerTool.odd-names
    Scenario Outline: A tool called <name> is listed and can be called
      Given a package "parcels" with the tool "print_label"
      And package "parcels" registers the tool "<name>"
      And the tool "<name>" answers "the odd one"
      When the model calls "<name>"
      Then request 1 lists "<name>"
      And call "1" succeeds with "the odd one"

      Examples:
        | name           |
        | print a label  |
        | Print_Label    |
        | päckchen/druck |
        | constructor    |
        | __proto__      |
        | mcp.parcels/labels:print@2 |
        | café_printer |
        | print_a_label_for_a_parcel_that_is_to_be_sent_to_another_country_before_the_end_of_the_week_or_later |

    @rule:registerTool.odd-names @case:side-by-side
    Scenario Outline: Names that differ in one sign are names of different tools, <name> among them
      Given a package "parcels" with the tool "print label"
      And package "parcels" registers the tool "print-label"
      And package "parcels" registers the tool "print_label"
      And package "parcels" registers the tool "print.label"
      And package "parcels" registers the tool "print/label"
      And package "parcels" registers the tool "print label "
      And package "parcels" registers the tool "Print_Label"
      And the tool "<name>" answers "the one that was meant"
      When the model calls "<name>"
      Then request 1 lists "<name>"
      And call "1" succeeds with "the one that was meant"

      Examples:
        | name        |
        | print label |
        | print-label |
        | print_label |
        | print.label |
        | print/label |
        | Print_Label |

    @rule:registerTool.only-visible-tools-run
    Scenario Outline: The name <name> is not that of print_label
      Given a package "parcels" with the tool "print_label"
      When the model calls "<name>"
      Then the tool "print_label" does not run
      And call "1" fails and says "<name>"
      And the model is asked 2 times

      Examples:
        | name         |
        | Print_Label  |
        | print-label  |
        | print_labels |
        | toString     |

    @rule:registerTool.an-empty-name
    Scenario: The empty text is a name
      Given a package "parcels" with the tool ""
      When the model calls ""
      Then request 1 lists ""
      And the tool "" runs 1 times
      And call "1" succeeds

    @rule:registerTool.an-empty-name @case:in-a-list
    Scenario: A list of active tools names the empty text
      Given a package "parcels" with the tool ""
      And package "parcels" registers the tool "manage"
      And the tool "manage" calls setActiveTools with [["", "manage"]]
      And the model first calls "manage"
      When the model calls ""
      Then request 2 lists ""
      And call "2" succeeds

    @rule:registerTool.label-and-description-may-be-missing
    Scenario Outline: A tool without a <field> is listed and runs
      Given a package "parcels" with the tool "print_label" and
        """
        <field>: {$: undefined}
        """
      When the model calls "print_label"
      Then request 1 lists "print_label"
      And call "1" succeeds

      Examples:
        | field       |
        | label       |
        | description |

    @rule:registerTool.a-missing-execute-spares-the-others
    Scenario: A definition without execute harms only its own calls
      Given a native tool "native_scale"
      And a package "parcels" with the tool "print_label" and
        """
        executes: false
        """
      And package "parcels" registers the tool "parcel_scale"
      When the model calls in one message
        | tool         |
        | print_label  |
        | native_scale |
        | parcel_scale |
      Then call "1" fails
      And call "2" succeeds
      And call "3" succeeds
      And the model is asked 2 times

    @rule:registerTool.an-odd-root-schema-spares-the-others
    Scenario Outline: A root schema that is <schema> harms no other tool
      Given a native tool "native_scale"
      And a package "parcels" with the tool "print_label" and
        """
        parameters: <schema>
        """
      And a package "letters" with the tool "letter_scale"
      When the model calls in one message
        | tool         |
        | native_scale |
        | letter_scale |
      Then request 1 lists "native_scale"
      And request 1 lists "letter_scale"
      And call "1" succeeds
      And call "2" succeeds

      Examples:
        | schema                                 |
        | {$: undefined}                         |
        | null                                   |
        | true                                   |
        | []                                     |
        | object                                 |
        | {$: function}                          |
        | {type: string}                         |
        | {type: array, items: {type: string}}   |
        | {type: object, properties: {$: cycle}} |

    @rule:registerTool.an-odd-root-schema-fails-its-calls
    Scenario Outline: A call of a tool whose root schema is <schema> is an error
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: <schema>
        """
      And package "parcels" registers the tool "parcel_scale"
      When the model calls in one message
        | tool         |
        | print_label  |
        | parcel_scale |
      Then the tool "print_label" does not run
      And call "1" fails
      And call "2" succeeds

      Examples:
        | schema                               |
        | {$: undefined}                       |
        | null                                 |
        | true                                 |
        | {type: string}                       |
        | {type: array, items: {type: string}} |

  Rule: When it takes effect

    @rule:registerTool.a-shared-packages-late-tool-is-every-agents @case:for-good
    Scenario: A tool that a handler registers outlives the handler's agent and is there for agents that come later
      Given an agent "main"
      And an agent "other"
      And a package "parcels" with the tool "open_shop"
      And the tool "open_shop" calls registerTool with [{"name": "print_label", "description": "prints", "parameters": {"type": "object", "properties": {}}}]
      When the model of agent "other" calls "open_shop"
      And agent "other" is ended
      And an agent "third" is created
      And the model of agent "third" calls "print_label"
      And the model calls "print_label"
      Then request 1 lists "print_label"
      And request 1 of agent "third" lists "print_label"
      And call "2" succeeds with "print_label ok"
      And call "3" succeeds with "print_label ok"

    @rule:registerTool.registered-in-a-handler
    Scenario Outline: A tool registered in <event> is there in the next request
      Given a package "parcels" with the tool "open_shop"
      And package "parcels" answers <event> with
        """
        when: {call: "1"}
        acts:
          - do: pi
            call: registerTool
            args: [{name: print_label, label: print, description: prints, parameters: {type: object, properties: {}}}]
        """
      And the model first calls "open_shop"
      When the model calls "print_label"
      Then request 1 does not list "print_label"
      And request 2 lists "print_label"
      And the tool "print_label" runs 1 times
      And call "2" succeeds

      Examples:
        | event                |
        | tool_execution_start |
        | tool_call            |
        | tool_result          |
        | tool_execution_end   |

    @rule:registerTool.registered-in-before-agent-start
    Scenario: A tool registered before the first request is there in the second
      Given a package "parcels" with the tool "open_shop"
      And package "parcels" answers before_agent_start with
        """
        acts:
          - do: pi
            call: registerTool
            args: [{name: print_label, label: print, description: prints, parameters: {type: object, properties: {}}}]
        """
      And the model first calls "open_shop"
      When the model calls "print_label"
      Then request 2 lists "print_label"
      And the tool "print_label" runs 1 times
      And call "2" succeeds

    @rule:registerTool.registered-in-before-agent-start-at-once
    Scenario: A tool registered before the first request is there in it
      Given package "parcels" answers before_agent_start with
        """
        acts:
          - do: pi
            call: registerTool
            args: [{name: print_label, label: print, description: prints, parameters: {type: object, properties: {}}}]
        """
      When the user says "hello"
      Then request 1 lists "print_label"

    @rule:registerTool.registered-in-before-agent-start-at-once @case:again
    Scenario: A tool registered again before the first request is shown as it is now
      Given a package "parcels" with the tool "print_label"
      And package "parcels" answers before_agent_start with
        """
        acts:
          - do: pi
            call: registerTool
            args: [{name: print_label, label: print, description: prints several, parameters: {type: object, properties: {}}}]
        """
      When the user says "hello"
      Then request 1 shows "print_label" with
        """
        description: prints several
        """

    @rule:registerTool.registered-by-a-running-tool
    Scenario: A tool that a tool registers is there in the next request
      Given a package "parcels" with the tool "open_shop"
      And the tool "open_shop" calls registerTool with [{"name": "print_label", "label": "print", "description": "prints", "parameters": {"type": "object", "properties": {}}}]
      And the model first calls "open_shop"
      When the model calls "print_label"
      Then request 1 does not list "print_label"
      And request 2 shows "print_label" with
        """
        description: prints
        """
      And the tool "print_label" runs 1 times
      And call "2" succeeds

    @rule:registerTool.what-a-tool-registered-stays @case:it-throws
    Scenario: A tool registers another one and throws
      Given a package "parcels" with the tool "open_shop"
      And the tool "open_shop" does
        """
        acts: [{do: pi, call: registerTool, args: [{"name": "print_label", "label": "print", "description": "late", "parameters": {"type": "object", "properties": {"copies": {"type": "number"}}}}]}]
        throws: {$: error, name: Error, message: the shop is closed}
        """
      And the model first calls "open_shop"
      When the model calls "print_label" with {"copies": "2"}
      Then call "1" fails and says "the shop is closed"
      And request 2 lists "print_label"
      And the tool "print_label" runs with {"copies": 2}
      And call "2" succeeds

    @rule:registerTool.what-a-tool-registered-stays @case:the-user-cancels
    Scenario: A tool registers another one and the user cancels
      Given a package "parcels" with the tool "open_shop"
      And the tool "open_shop" calls registerTool with [{"name": "print_label", "label": "print", "description": "late", "parameters": {"type": "object", "properties": {"copies": {"type": "number"}}}}]
      And the user cancels while the tool "open_shop" runs
      When the model calls "open_shop"
      And the model calls "print_label" with {"copies": "2"}
      Then request 2 lists "print_label"
      And the tool "print_label" runs with {"copies": 2}
      And call "2" succeeds

    @rule:registerTool.a-late-tool-is-like-any-other @case:prepared
    Scenario: The arguments of a tool that was registered at work are prepared, then coerced
      Given a package "parcels" with the tool "open_shop"
      And the tool "open_shop" calls registerTool with [{"name": "print_label", "label": "print", "description": "late", "parameters": {"type": "object", "properties": {"copies": {"type": "number"}}}, "prepare": {"returns": {"copies": "7"}}}]
      And the model first calls "open_shop"
      When the model calls "print_label" with {"copies": 1}
      Then the tool "print_label" runs with {"copies": 7}

    @rule:registerTool.a-late-tool-is-like-any-other @case:judged
    Scenario: A package blocks a call of a tool that was registered at work
      Given a package "parcels" with the tool "open_shop"
      And the tool "open_shop" calls registerTool with [{"name": "print_label", "label": "print", "description": "late", "parameters": {"type": "object", "properties": {"copies": {"type": "number"}}}}]
      And package "guard" blocks "print_label" with the reason "no labels today"
      And the model first calls "open_shop"
      When the model calls "print_label" with {"copies": 1}
      Then the tool "print_label" does not run
      And call "2" fails and says "no labels today"

    @rule:registerTool.a-late-tool-is-like-any-other @case:told
    Scenario: A package hears all of a call of a tool that was registered at work
      Given a package "parcels" with the tool "open_shop"
      And the tool "open_shop" calls registerTool with [{"name": "print_label", "label": "print", "description": "late", "parameters": {"type": "object", "properties": {"copies": {"type": "number"}}}}]
      And the tool "print_label" sends the update "half of it"
      And package "parcels" listens to every tool event
      And the model first calls "open_shop"
      When the model calls "print_label" with {"copies": 1}
      Then package "parcels" sees the updates ["half of it"] of call "2"
      And package "parcels" sees tool_call of call "2" with {"toolName": "print_label"}
      And package "parcels" sees tool_result of call "2" with {"toolName": "print_label", "isError": false}
      And package "parcels" sees tool_execution_end of call "2" with {"toolName": "print_label", "isError": false}

    @rule:registerTool.registered-between-prompts
    Scenario: A tool registered while the agent is idle is there for the next prompt
      Given a package "parcels"
      When package "parcels" calls registerTool with [{"name": "print_label", "label": "print", "description": "prints", "parameters": {"type": "object", "properties": {}}}]
      And the model calls "print_label"
      Then request 1 lists "print_label"
      And the tool "print_label" runs 1 times
      And call "1" succeeds

    @rule:registerTool.active-at-once
    Scenario: A new tool is active before the next request
      Given a package "parcels" with the tool "open_shop"
      And the tool "open_shop" calls registerTool with [{"name": "print_label", "label": "print", "description": "prints", "parameters": {"type": "object", "properties": {}}}]
      And the tool "open_shop" calls getActiveTools with []
      When the model calls "open_shop"
      Then getActiveTools returned a list with "print_label"

    @rule:registerTool.a-later-call-of-the-batch @on:bridge
    Scenario: On the host a new tool can be called in the batch that registered it
      Given a package "parcels" with the tool "open_shop"
      And the tool "open_shop" calls registerTool with [{"name": "print_label", "label": "print", "description": "prints", "parameters": {"type": "object", "properties": {}}}]
      When the model calls in one message
        | tool        |
        | open_shop   |
        | print_label |
      Then call "2" succeeds

    @rule:registerTool.a-later-call-of-the-batch @on:pi
    Scenario: On Pi a new tool is unknown in the batch that registered it
      Given a package "parcels" with the tool "open_shop"
      And the tool "open_shop" calls registerTool with [{"name": "print_label", "label": "print", "description": "prints", "parameters": {"type": "object", "properties": {}}}]
      When the model calls in one message
        | tool        |
        | open_shop   |
        | print_label |
      Then call "2" fails and says "print_label"

    @rule:registerTool.registering-again-moves-everything @case:what-is-shown
    Scenario: After a second registration the model sees the new description and schema
      Given a package "parcels" with the tool "print_label" and
        """
        description: prints one label
        """
      And the tool "print_label" calls registerTool with [{"name": "print_label", "label": "print", "tag": "new", "description": "prints several", "parameters": {"type": "object", "properties": {"copies": {"type": "number"}}}}]
      When the model calls "print_label"
      Then request 1 shows "print_label" with
        """
        description: prints one label
        """
      And request 2 shows "print_label" with
        """
        description: prints several
        properties: {copies: {type: number}}
        """

    @rule:registerTool.registering-again-moves-everything @case:time-and-again
    Scenario: The model sees the last of several registrations
      Given a package "parcels" with the tool "print_label"
      And the tool "print_label" calls registerTool with [{"name": "print_label", "label": "print", "description": "prints several", "parameters": {"type": "object", "properties": {}}}]
      And the tool "print_label" calls registerTool with [{"name": "print_label", "label": "print", "description": "prints many", "parameters": {"type": "object", "properties": {}}}]
      And the tool "print_label" calls registerTool with [{"name": "print_label", "label": "print", "tag": "last", "description": "prints them all", "parameters": {"type": "object", "properties": {"copies": {"type": "number"}}}}]
      And the tool "print_label" does
        """
        tag: last
        returns: {content: [{type: text, text: from the last one}], details: {}}
        """
      And the model first calls "print_label"
      When the model calls "print_label" with {"copies": "3"}
      Then request 2 shows "print_label" with
        """
        description: prints them all
        properties: {copies: {type: number}}
        """
      And call "2" succeeds with "from the last one"

    @rule:registerTool.registering-again-moves-everything @case:wanted-by-another
    Scenario: A package registers again a name that another one wants, too
      Given a package "parcels" with the tool "doubled_label_printer"
      And package "parcels" registers the tool "open_shop"
      And a package "letters" with the tool "doubled_label_printer" and
        """
        description: of letters
        """
      And the tool "open_shop" calls registerTool with [{"name": "doubled_label_printer", "description": "the new one of parcels", "parameters": {"type": "object", "properties": {}}}]
      When the model calls "open_shop"
      Then request 2 shows "doubled_label_printer" with
        """
        description: the new one of parcels
        """

    @rule:registerTool.registering-again-moves-everything @case:what-runs
    Scenario: After a second registration the new behaviour runs
      Given a package "parcels" with the tool "print_label"
      And the tool "print_label" calls registerTool with [{"name": "print_label", "label": "print", "tag": "new", "description": "prints several", "parameters": {"type": "object", "properties": {"copies": {"type": "number"}}}}]
      And the tool "print_label" does
        """
        tag: new
        returns: {content: [{type: text, text: from the new one}], details: {}}
        """
      And the model first calls "print_label"
      When the model calls "print_label" with {"copies": 3}
      Then call "1" succeeds with "print_label ok"
      And call "2" succeeds with "from the new one"

    @rule:registerTool.registering-again-moves-everything @case:what-is-valid
    Scenario: After a second registration the new schema judges calls
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {amount: {type: number}}, required: [amount]}
        """
      And the tool "print_label" calls registerTool with [{"name": "print_label", "label": "print", "description": "prints several", "parameters": {"type": "object", "properties": {"copies": {"type": "number"}}, "required": ["copies"]}}]
      And the model first calls "print_label" with {"amount": 1}
      And the model first calls "print_label" with {"amount": 1}
      When the model calls "print_label" with {"copies": 1}
      Then call "1" succeeds
      And call "2" fails and says "copies"
      And call "3" succeeds

    @rule:registerTool.registering-again-moves-everything @case:one-change
    Scenario Outline: After a second registration that changes <what> alone, the new schema judges calls
      Given a package "parcels" with the tool "print_label" and
        """
        parameters: {type: object, properties: {copies: {type: <before>}, tray: {type: string}}<closed before>}
        """
      And package "parcels" registers the tool "manage"
      And the tool "manage" does
        """
        acts: [{do: pi, call: registerTool, args: [{name: print_label, label: print_label, description: Calls print_label, parameters: {type: object, properties: {copies: {type: <after>}, tray: {type: string}}<closed after>}}]}]
        """
      And the model first calls "print_label" with {"copies": "1", "tray": "upper"}
      And the model first calls "manage"
      When the model calls "print_label" with <sent>
      Then call "1" succeeds
      And call "3" of "print_label" runs with <given>

      Examples:
        | what            | before  | closed before                 | after  | closed after                 | sent                        | given                       |
        | a type          | number  |                               | string |                              | {"copies": 2}               | {"copies": "2"}             |
        | another type    | string  |                               | number |                              | {"copies": "2"}             | {"copies": 2}               |
        | what is allowed | number  | , additionalProperties: false | number |                              | {"copies": "2", "size": 7}  | {"copies": 2, "size": 7}    |
        | what is needed  | number  | , required: [tray]            | number | , required: [copies]         | {"copies": "2"}             | {"copies": 2}               |

    @rule:registerTool.registering-again-moves-everything @case:looks-the-same
    Scenario: After a second registration that looks like the first the new behaviour runs
      Given a package "parcels" with the tool "print_label" and
        """
        description: prints labels
        parameters: {type: object, properties: {copies: {type: number}}}
        """
      And the tool "print_label" calls registerTool with [{"name": "print_label", "label": "print_label", "tag": "new", "description": "prints labels", "parameters": {"type": "object", "properties": {"copies": {"type": "number"}}}}]
      And the tool "print_label" does
        """
        tag: new
        returns: {content: [{type: text, text: from the new one}], details: {}}
        """
      And the model first calls "print_label"
      When the model calls "print_label"
      Then call "1" succeeds with "print_label ok"
      And call "2" succeeds with "from the new one"

    @rule:registerTool.registering-again-moves-everything @case:what-is-prepared
    Scenario: After a second registration the new preparation prepares
      Given a package "parcels" with the tool "print_label"
      And the tool "print_label" calls registerTool with [{"name": "print_label", "label": "print", "description": "prints several", "parameters": {"type": "object", "properties": {"copies": {"type": "number"}}}, "prepare": {"returns": {"copies": "2"}}}]
      And the model first calls "print_label" with {"amount": 1}
      When the model calls "print_label" with {"amount": 1}
      Then call "1" of "print_label" runs with {"amount": 1}
      And call "2" of "print_label" runs with {"copies": 2}

    @rule:registerTool.registering-again-moves-everything @case:no-preparation-any-more
    Scenario: After a second registration without a preparation nothing is prepared
      Given a package "parcels" with the tool "print_label" and
        """
        prepare: {returns: {copies: 7}}
        """
      And the tool "print_label" calls registerTool with [{"name": "print_label", "label": "print", "description": "prints several", "parameters": {"type": "object", "properties": {"copies": {"type": "number"}}}}]
      And the model first calls "print_label" with {"copies": 1}
      When the model calls "print_label" with {"copies": 2}
      Then call "1" of "print_label" runs with {"copies": 7}
      And call "2" of "print_label" runs with {"copies": 2}

    @rule:registerTool.registering-again-moves-everything @case:while-switched-off
    Scenario: A tool that is registered again while it is switched off comes back as the new one
      Given a package "parcels" with the tool "print_label" and
        """
        description: prints one label
        """
      And package "parcels" registers the tool "manage"
      And the tool "manage" does
        """
        acts:
          - {do: pi, call: setActiveTools, args: [[manage]]}
          - {do: pi, call: registerTool, args: [{name: print_label, label: print, description: prints several, parameters: {type: object, properties: {copies: {type: number}}}}]}
          - {do: pi, call: setActiveTools, args: [[manage, print_label]]}
        """
      And the model first calls "manage"
      When the model calls "print_label" with {"copies": "2"}
      Then request 2 shows "print_label" with
        """
        description: prints several
        properties: {copies: {type: number}}
        """
      And the tool "print_label" runs with {"copies": 2}

    @rule:registerTool.registering-again-moves-everything @case:how-it-runs
    Scenario: After a second registration the new way of running counts
      Given a package "parcels" with the tool "print_label" and
        """
        executionMode: parallel
        """
      And the tool "print_label" calls registerTool with [{"name": "print_label", "label": "print", "tag": "new", "description": "prints alone", "executionMode": "sequential", "parameters": {"type": "object", "properties": {}}}]
      And the tool "print_label" does
        """
        tag: new
        acts: [{do: hold, kinds: [tool.enter]}]
        returns: {content: [{type: text, text: printed alone}], details: {}}
        """
      And the model first calls "print_label"
      When the model calls in one message
        | tool        |
        | print_label |
        | print_label |
      Then this order holds
        """
        the end of the body of call "2"
        the body of call "3"
        """

    @rule:registerTool.registering-again-spares-the-running-call
    Scenario: A tool that registers itself again ends with its own result
      Given a package "parcels" with the tool "print_label"
      And the tool "print_label" does
        """
        acts:
          - do: pi
            call: registerTool
            args: [{name: print_label, label: print, tag: new, description: new, parameters: {type: object, properties: {}}}]
        returns: {content: [{type: text, text: from the old one}], details: {}}
        """
      When the model calls "print_label"
      Then call "1" succeeds with "from the old one"

    @rule:registerTool.registering-again-within-a-batch @on:bridge
    Scenario: On the host a later call of the batch runs the new tool
      Given a package "parcels" with the tool "print_label"
      And the tool "print_label" calls registerTool with [{"name": "print_label", "label": "print", "tag": "new", "description": "new", "parameters": {"type": "object", "properties": {}}}]
      And the tool "print_label" does
        """
        tag: new
        returns: {content: [{type: text, text: from the new one}], details: {}}
        """
      When the model calls in one message
        | tool        |
        | print_label |
        | print_label |
      Then call "2" succeeds with "from the new one"

    @rule:registerTool.registering-again-within-a-batch @on:pi
    Scenario: On Pi a later call of the batch runs the old tool
      Given a package "parcels" with the tool "print_label"
      And the tool "print_label" calls registerTool with [{"name": "print_label", "label": "print", "tag": "new", "description": "new", "parameters": {"type": "object", "properties": {}}}]
      And the tool "print_label" does
        """
        tag: new
        returns: {content: [{type: text, text: from the new one}], details: {}}
        """
      When the model calls in one message
        | tool        |
        | print_label |
        | print_label |
      Then call "2" succeeds with "print_label ok"

  Rule: Packages

    @rule:registerTool.a-factory-that-throws-leaves-nothing
    Scenario: A package that fails to load leaves no tool behind and says so
      Given a package "parcels" with the tool "print_label"
      And the factory of package "parcels" throws "the printer driver is missing"
      And a package "letters" with the tool "letter_scale"
      When the model calls "letter_scale"
      Then request 1 does not list "print_label"
      And call "1" succeeds
      And either package "parcels" runs call "1", or its "print_label" is visibly refused

    @rule:registerTool.a-factory-that-throws-leaves-nothing @case:its-list
    Scenario: The list that a package set before it failed to load hides nobody's tools
      Given a native tool "native_scale"
      And a package "parcels" with the tool "print_label"
      And package "parcels" calls setActiveTools with [["print_label"]] while loading
      And the factory of package "parcels" throws "the printer driver is missing"
      And a package "letters" with the tool "letter_scale"
      When the user says "hello"
      Then request 1 lists "letter_scale"
      And request 1 lists "native_scale"
      And request 1 does not list "print_label"

    @rule:registerTool.a-factory-that-throws-leaves-nothing @case:the-only-one
    Scenario: The only package fails to load, and its agent works on with the host's tools
      Given a native tool "native_scale"
      And a package "parcels" with the tool "print_label"
      And the factory of package "parcels" throws "the printer driver is missing"
      When the model calls "native_scale"
      Then request 1 lists "native_scale"
      And request 1 does not list "print_label"
      And call "1" succeeds
      And either package "parcels" runs call "1", or its "print_label" is visibly refused

    @rule:registerTool.another-agents-end-takes-nothing
    Scenario: An agent's tools stay when another agent ends
      Given an agent "main"
      And an agent "other"
      And a package "parcels" with the tool "print_label"
      And package "parcels" listens to tool_call
      When the model of agent "other" calls "print_label"
      And agent "other" is ended
      And the model calls "print_label"
      Then request 1 lists "print_label"
      And call "2" succeeds with "print_label ok"
      And package "parcels" sees tool_call 2 times

    @rule:registerTool.tools-go-with-their-package @case:gone
    Scenario: A removed package takes its tools along
      Given a package "parcels" with the tool "print_label"
      And a package "manager" with the tool "close_shop"
      And the tool "close_shop" does
        """
        acts: [{do: unload, package: parcels}]
        returns: {content: [{type: text, text: closed}], details: {}}
        """
      When the model calls "close_shop"
      Then request 1 lists "print_label"
      And request 2 does not list "print_label"

    @rule:registerTool.tools-go-with-their-package @case:every-tool
    Scenario: A removed package takes all of its tools along
      Given a package "parcels" with the tool "print_label"
      And package "parcels" registers the tool "weigh"
      And package "parcels" registers the tool "stack"
      And package "parcels" registers the tool "sort"
      And a package "parcels_abroad" with the tool "declare"
      And a package "manager" with the tool "close_shop"
      And the tool "close_shop" does
        """
        acts: [{do: unload, package: parcels}]
        returns: {content: [{type: text, text: closed}], details: {}}
        """
      When the model calls "close_shop"
      Then request 1 lists "sort"
      And request 2 lists "declare"
      And request 2 does not list "print_label"
      And request 2 does not list "weigh"
      And request 2 does not list "stack"
      And request 2 does not list "sort"
      And request 2 lists "close_shop"

    @rule:registerTool.a-removed-package-registers-nothing
    Scenario: A tool whose package is removed while it runs registers another one
      Given a native tool "disk_reader"
      And a package "parcels" with the tool "close_shop"
      And the tool "close_shop" does
        """
        acts:
          - {do: unload, package: parcels}
          - {do: pi, call: registerTool, args: [{name: ghost_printer, description: haunts, parameters: {type: object, properties: {}}}]}
        returns: {content: [{type: text, text: closed}], details: {}}
        """
      And the model first calls "close_shop"
      When the model calls "ghost_printer"
      And the user says "what is left?"
      Then request 2 does not list "ghost_printer"
      And request 4 does not list "ghost_printer"
      And request 4 lists "disk_reader"
      And the tool "ghost_printer" does not run

    @rule:registerTool.tools-go-with-their-package @case:the-name-is-free
    Scenario: A name is free for another package when its package is removed
      Given a package "parcels" with the tool "print_label"
      And a package "manager" with the tool "close_shop"
      And the tool "close_shop" does
        """
        acts:
          - {do: unload, package: parcels}
          - {do: pi, call: registerTool, args: [{name: print_label, description: the manager's, parameters: {type: object, properties: {}}}]}
        returns: {content: [{type: text, text: closed}], details: {}}
        """
      And the model first calls "close_shop"
      When the model calls "print_label"
      Then request 2 shows "print_label" with
        """
        description: the manager's
        """
      And the tool "print_label" runs 1 times
      And call "2" succeeds

    @rule:registerTool.a-package-loaded-again-serves-as-at-first
    Scenario: A package is removed and comes back
      Given a package "parcels" with the tool "print_label"
      And package "parcels" listens to tool_call
      When the model calls "print_label"
      And package "parcels" is unloaded
      And the model calls "print_label"
      And package "parcels" is loaded
      And the model calls "print_label"
      Then call "2" fails
      And request 5 lists "print_label" once, as the tool that runs call "3"
      And call "3" succeeds with "print_label ok"
      And the tool "print_label" runs 2 times
      And package "parcels" sees tool_call 2 times

    @rule:registerTool.a-shared-name-after-its-package-went
    Scenario: The package that had a name of two is removed
      Given a package "parcels" with the tool "doubled_label_printer" and
        """
        tag: of parcels
        description: prints as parcels does
        """
      And the tool "doubled_label_printer" does
        """
        tag: of parcels
        returns: {content: [{type: text, text: a label of parcels}], details: {}}
        """
      And a package "letters" with the tool "doubled_label_printer" and
        """
        tag: of letters
        description: prints as letters does
        """
      And package "letters" registers the tool "seal_letter"
      And a package "manager" with the tool "close_shop"
      And the tool "close_shop" does
        """
        acts: [{do: unload, package: parcels}]
        returns: {content: [{type: text, text: closed}], details: {}}
        """
      And the model first calls "close_shop"
      When the model calls in one message
        | tool                  |
        | doubled_label_printer |
        | seal_letter           |
      Then request 2 lists "doubled_label_printer" at-most-once, as the tool that runs call "2"
      And request 3 carries nothing of "a label of parcels"
      And either package "letters" runs call "2", or its "doubled_label_printer" is visibly refused
      And call "3" succeeds with "seal_letter ok"

    @rule:registerTool.a-removed-package-is-gone-for-every-agent
    Scenario: A removed package takes its tools along for every agent
      Given an agent "main"
      And an agent "other"
      And a package "parcels" with the tool "print_label"
      And a package "manager" with the tool "close_shop"
      And the tool "close_shop" does
        """
        acts: [{do: unload, package: parcels}]
        returns: {content: [{type: text, text: closed}], details: {}}
        """
      When the model of agent "other" calls "print_label"
      And the model calls "close_shop"
      And the model of agent "other" calls "print_label"
      Then request 1 of agent "other" lists "print_label"
      And request 2 does not list "print_label"
      And call "1" succeeds
      And call "3" fails and says "print_label"
      And the tool "print_label" runs 1 times

    @rule:registerTool.tools-go-with-their-package @case:native-is-back
    Scenario: A native tool answers again when the package that took its name is removed
      Given a native tool "shared_label_printer"
      And a package "parcels" with the tool "shared_label_printer"
      And a package "manager" with the tool "close_shop"
      And the native tool "shared_label_printer" answers "the native one"
      And the tool "close_shop" does
        """
        acts: [{do: unload, package: parcels}]
        returns: {content: [{type: text, text: closed}], details: {}}
        """
      And the model first calls "close_shop"
      When the model calls "shared_label_printer"
      Then request 2 lists "shared_label_printer"
      And call "2" succeeds with "the native one"

    @rule:registerTool.a-reloaded-package-has-its-tools
    Scenario: A package that is reloaded has its tools, once each
      Given a package "parcels" with the tool "print_label"
      And package "parcels" registers the tool "weigh"
      And a package "letters" with the tool "seal_letter"
      When the model calls "print_label"
      And package "parcels" is reloaded
      And the model calls "print_label"
      And package "parcels" is reloaded
      And the model calls "print_label"
      Then request 3 lists "print_label" once, as the tool that runs call "2"
      And request 3 lists "weigh"
      And request 3 lists "seal_letter"
      And request 5 lists "print_label" once, as the tool that runs call "3"
      And request 5 lists "weigh"
      And call "3" succeeds with "print_label ok"

    @rule:registerTool.a-reloaded-package-has-its-tools @case:no-others
    Scenario: A package that is reloaded has no tool that it registered at work
      Given a package "parcels" with the tool "open_shop"
      And the tool "open_shop" calls registerTool with [{"name": "print_label", "label": "print", "description": "late", "parameters": {"type": "object", "properties": {}}}]
      When the model calls "open_shop"
      And package "parcels" is reloaded
      And the model calls "print_label"
      Then request 2 lists "print_label"
      And request 3 lists "open_shop"
      And request 3 does not list "print_label"
      And the tool "print_label" does not run

    @rule:registerTool.a-reloaded-package-has-its-tools @case:as-before
    Scenario: The tool of a package that is reloaded is shown, prepared and coerced as before
      Given a package "parcels" with the tool "print_label" and
        """
        description: prints labels
        parameters: {type: object, properties: {copies: {type: number}}, required: [copies]}
        prepare: {ops: [{op: set, path: [copies], value: "7"}]}
        promptSnippet: Prints parcel labels on demand
        promptGuidelines: [Never print on a Sunday]
        """
      When the model calls "print_label" with {"copies": 1}
      And package "parcels" is reloaded
      And the model calls "print_label" with {"copies": 1}
      Then call "1" of "print_label" runs with {"copies": 7}
      And call "2" of "print_label" runs with {"copies": 7}
      And request 3 shows "print_label" with
        """
        description: prints labels
        properties: {copies: {type: number}}
        """
      And the system prompt of request 3 has "Prints parcel labels on demand"
      And the system prompt of request 3 has "Never print on a Sunday"

    @rule:registerTool.a-reloaded-package-has-its-tools @case:changed-arguments
    Scenario: A handler changes the arguments of a package's tool that was reloaded
      Given a package "parcels" with the tool "print_label"
      And package "parcels" changes the argument "copies" of "print_label" to 2
      When the model calls "print_label" with {"copies": 1}
      And package "parcels" is reloaded
      And the model calls "print_label" with {"copies": 1}
      Then call "1" of "print_label" runs with {"copies": 2}
      And call "2" of "print_label" runs with {"copies": 2}

  @rule:registerTool.a-failed-reload-is-reported
  Scenario: A package that stood in for a native tool fails when it is reloaded
    Given a native tool "shell_runner"
    And a package "sandbox" with the tool "shell_runner"
    When package "sandbox" is reloaded and its factory throws "the sandbox could not be built again"
    Then a notice names "the sandbox could not be built again"

  @rule:registerTool.a-factory-is-waited-for
  Scenario: An agent that comes later, and a package that waits for a program before it registers its tool
    Given package "parcels" calls exec with ["sleep", ["0.2"]] while loading
    And package "parcels" calls registerTool with [{"name": "late_label_printer", "label": "print", "description": "prints", "parameters": {"type": "object", "properties": {}}}] while loading
    When the user says "hello"
    And an agent "latecomer" is created
    And the model of agent "latecomer" calls "late_label_printer"
    Then request 1 lists "late_label_printer"
    And request 1 of agent "latecomer" lists "late_label_printer"
    And call "1" succeeds
