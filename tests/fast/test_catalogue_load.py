"""The loader takes a whole spec, and rejects a broken one with file, line, cause and mend."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.catalogue import CatalogueError, Problem, UnknownNameError, load_catalogue
from tests.fast.small_specs import DEMO, INDEX, SEAM, changed, write_spec

INDEX_WITH_SEAM = changed(INDEX, "seams: []", "seams: [host/waterfalls.yaml]")

COERCION = """\
    vectors:
      kind: coercion
      rows:
        - {case: a-number, schema: {type: number}, arguments: '"7"', answer: {value: 7}}
"""


def rejected(root: Path) -> tuple[Problem, ...]:
    with pytest.raises(CatalogueError) as caught:
        load_catalogue(root)
    return caught.value.problems


def only(root: Path) -> str:
    [problem] = rejected(root)
    return str(problem)


def test_a_whole_spec_becomes_rules_that_know_their_place(tmp_path: Path) -> None:
    catalogue = load_catalogue(write_spec(tmp_path))

    works, differs = catalogue.rules
    assert (works.id, works.file, works.line) == ("demo.works", "spec/tools/demo.yaml", 8)
    assert differs.where == "spec/tools/demo.yaml:16"
    assert (differs.on_pi, differs.refusal) == ("The thing is done.", "says why")
    assert (differs.needs, differs.mounts, works.mounts) == (("native-tools",), ("engine",), ())
    assert str(differs.evidence[1]) == "read on dsh 0.1.0-rc.8 (in its documentation)"
    assert str(works.source) == "tools#demo-api"
    assert catalogue.surface("demo").path == "tools/demo"


def test_a_rule_may_name_a_source_and_a_deadline_of_its_own(tmp_path: Path) -> None:
    own = (
        "    source: {document: tools, anchor: other-event}\n    deadline: {seconds: 60, reason: it runs a compiler}\n"
    )
    root = write_spec(tmp_path, tools__demo=changed(DEMO, "    kills: [broken]\n", "    kills: [broken]\n" + own))

    rule = load_catalogue(root).rules[0]

    assert str(rule.source) == "tools#other-event"
    assert rule.deadline is not None
    assert (rule.deadline.seconds, rule.deadline.reason) == (60, "it runs a compiler")


def test_facts_of_the_host_come_from_seam_files(tmp_path: Path) -> None:
    catalogue = load_catalogue(write_spec(tmp_path, index=INDEX_WITH_SEAM, host__waterfalls=SEAM))

    assert catalogue.rule("waterfalls.ask-in-order").relation == "host"
    assert catalogue.surface("waterfalls").status is None


def test_an_unknown_rule_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"no rule is called 'demo\.work'; did you mean demo\.works\?"):
        load_catalogue(write_spec(tmp_path)).rule("demo.work")


def test_the_words_on_and_no_stay_words(tmp_path: Path) -> None:
    row = "{case: no-word, schema: {on: yes, at: 1:30, n: [1, -2, 1.5, 1e3, 010]}, arguments: no, answer: ~}"
    vectors = changed(
        COERCION, """{case: a-number, schema: {type: number}, arguments: '"7"', answer: {value: 7}}""", row
    )
    root = write_spec(tmp_path, tools__demo=changed(DEMO, "    kills: [broken]\n", "    kills: [broken]\n" + vectors))

    [row_read] = load_catalogue(root).rules[0].vectors

    assert row_read.values == {
        "schema": {"on": "yes", "at": "1:30", "n": [1, -2, 1.5, 1000.0, "010"]},
        "arguments": "no",
        "answer": None,
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    level: must\n", "", "8: `level` is missing in `demo.works`. Mend: add it."),
        ("level: must", "level: shall", '9: `level` is "shall". Mend: write "must", "should" or "may".'),
        (
            "    kills: [broken]\n",
            "    kills: [broken]\n    expect: {refusal: a reason}\n",
            "14: `expect` is not a field in `demo.works`; did you mean expects. "
            "Mend: correct its spelling, or drop it.",
        ),
        (
            "id: demo.works",
            "id: demo.It_works",
            '8: `id` is "demo.It_works", which has not the right form. '
            "Mend: write <surface>.<slug>, the slug in lower case with hyphens.",
        ),
        (
            "    on_pi: The thing is done.\n",
            "",
            "16: `on_pi` is missing in `demo.differs`. "
            "Mend: a stated difference says what Pi does (on_pi) and why a bridge does otherwise (because).",
        ),
        (
            "text: The thing works as it does on Pi.",
            "text: The thing works.\n    on_pi: It does not.",
            "12: `on_pi` has no place here. "
            "Mend: on_pi belongs to the relation differs; drop it, or state the difference.",
        ),
        (
            "evidence: [{on: pi 0.84.1, how: observed}]\n",
            "evidence: [{on: pi 1.6.0, how: observed}]\n",
            "14: `evidence` does not hold what this rule's level and relation ask for. "
            "Mend: a must on Pi's behaviour was run on Pi: add {on: pi 0.84.1, how: observed} once it was.",
        ),
        (
            "on: dsh 0.1.0-rc.8",
            "on: the documentation",
            '26: `on` is "the documentation", which has not the right form. '
            "Mend: write implementation and version, as in: pi 0.84.1.",
        ),
        (
            "mounts: [engine]",
            "mounts: []",
            "24: `mounts` holds too little. "
            "Mend: name the mounts the rule speaks of, or leave the field out where it holds under each.",
        ),
        (
            "status: mapped\n",
            "",
            "1: `status` is missing. Mend: a surface has a status, and its rules are same, differs or bridge; "
            "facts of the host belong in spec/host.",
        ),
        (
            "since: 1",
            "since: 0",
            "15: `since` is 0, which is too small. Mend: write the spec version that brought the rule.",
        ),
        (
            "needs: []",
            "needs: none",
            '12: `needs` is "none", not a list. Mend: list each name once, in lower case with hyphens.',
        ),
        (
            "needs: []",
            "needs: [a, a]",
            "12: `needs` names something twice. Mend: list each name once, in lower case with hyphens.",
        ),
        (
            "    level: must\n",
            "    level: must\n    level: may\n",
            "10: the key `level` stands here twice. Mend: keep one of the two.",
        ),
        (
            "level: must",
            "level: !important must",
            "9: the tag !important is not used in rule files. Mend: write a plain JSON value.",
        ),
        (
            "text: The thing works as it does on Pi.",
            "text: The thing: works",
            "11: this is not YAML (mapping values are not allowed in this context). Mend: correct the indentation, "
            "or put quotes around a text that holds ': ', ' #' or starts with a sign.",
        ),
        (
            "id: demo.works",
            "id: other.works",
            "8: the rule other.works stands in the file of demo. Mend: call it demo.works, or move it.",
        ),
        (
            "since: 2",
            "since: 3",
            "27: the rule is from spec version 3, and the spec is at 2. "
            "Mend: write since: 2, or raise the version in spec/index.yaml.",
        ),
        (
            "anchor: demo-api",
            "anchor: demo",
            "6: the document `tools` has no anchor `demo`; did you mean demo-api?. "
            "Mend: correct it, or add the anchor to spec/index.yaml.",
        ),
        (
            "document: tools",
            "document: tool",
            "6: no document is called `tool`; did you mean tools?. Mend: name one of spec/index.yaml: tools.",
        ),
        (
            "id: demo.differs",
            "id: demo.works",
            "16: `demo.works` is already defined at spec/tools/demo.yaml:8. Mend: rename one of the two.",
        ),
    ],
)
def test_a_broken_rule_file_is_rejected_where_it_is_broken(tmp_path: Path, old: str, new: str, message: str) -> None:
    root = write_spec(tmp_path, tools__demo=changed(DEMO, old, new))

    assert only(root) == f"spec/tools/demo.yaml:{message}"


def test_facts_of_the_host_have_no_place_in_a_surface(tmp_path: Path) -> None:
    root = write_spec(tmp_path, tools__demo=changed(DEMO, "relation: same", "relation: host"))
    assert str(rejected(root)[0]) == (
        'spec/tools/demo.yaml:10: `relation` is "host". Mend: write "same", "differs" or "bridge".'
    )


def test_a_surface_and_its_file_have_one_name(tmp_path: Path) -> None:
    root = write_spec(
        tmp_path, tools__demo=changed(DEMO, "surface: demo", "surface: demos").split("rules:")[0] + "rules: []"
    )
    assert only(root) == (
        "spec/tools/demo.yaml:1: the surface `demos` stands in a file called demo.yaml. Mend: give both one name."
    )


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (changed(INDEX, "version: 2", "version: two"), 'index.yaml:1: `version` is "two", not a whole number. '
         "Mend: write the spec version as a whole number, starting at 1."),
        (changed(INDEX, "tools/demo.yaml", "tools/Demo.yml"),
         "index.yaml:7: entry 1 of `surfaces` is \"tools/Demo.yml\", "
         "which has not the right form. Mend: list each surface file once, as tools/<surface>.yaml."),
        (changed(INDEX, "seams: []", "seams: [host/gone.yaml]"),
         "index.yaml:8: the file host/gone.yaml is not there. Mend: write it, or drop the line."),
        ("", "index.yaml:1: the file is empty. Mend: write its fields, or delete it and its mention."),
    ],
)  # fmt: skip
def test_a_broken_index_is_rejected_where_it_is_broken(tmp_path: Path, index: str, message: str) -> None:
    assert only(write_spec(tmp_path, index=index)) == f"spec/{message}"


def test_a_missing_index_says_so(tmp_path: Path) -> None:
    (tmp_path / "spec").mkdir()
    assert only(tmp_path / "spec").startswith("spec/index.yaml: the file cannot be read (No such file or directory).")


def test_a_rule_file_that_the_index_forgot_is_reported(tmp_path: Path) -> None:
    root = write_spec(tmp_path, host__waterfalls=SEAM)
    assert only(root) == (
        "spec/host/waterfalls.yaml:1: spec/index.yaml does not list this file. Mend: add it to the list, or delete it."
    )


def test_a_seam_holds_only_facts_of_the_host(tmp_path: Path) -> None:
    seam = changed(SEAM, "relation: host", "relation: bridge")
    assert only(write_spec(tmp_path, index=INDEX_WITH_SEAM, host__waterfalls=seam)) == (
        'spec/host/waterfalls.yaml:9: `relation` is "bridge". Mend: a seam has no status, and each of its rules has '
        "the relation host; other rules belong to a surface."
    )


def test_a_fact_of_the_host_was_seen_on_the_host(tmp_path: Path) -> None:
    seam = changed(SEAM, "how: observed", "how: read")
    assert "Mend: a fact of the host was seen on the host" in only(
        write_spec(tmp_path, index=INDEX_WITH_SEAM, host__waterfalls=seam)
    )


def test_a_surface_under_host_is_out_of_place(tmp_path: Path) -> None:
    surface = DEMO.split("rules:")[0].replace("surface: demo", "surface: waterfalls") + "rules: []"
    assert only(write_spec(tmp_path, index=INDEX_WITH_SEAM, host__waterfalls=surface)) == (
        "spec/host/waterfalls.yaml:2: a file of the kind api stands under host/. "
        "Mend: keep seams in host/ and surfaces in tools/."
    )


def test_every_problem_of_every_file_is_told_at_once(tmp_path: Path) -> None:
    root = write_spec(
        tmp_path,
        index=INDEX_WITH_SEAM,
        tools__demo=DEMO.replace("level: must", "level: shall").replace("since: 2", "since: 0"),
        host__waterfalls=changed(SEAM, "since: 1", "since: 5"),
    )

    problems = rejected(root)

    assert [(problem.file, problem.line) for problem in problems] == [
        ("spec/host/waterfalls.yaml", 14),
        ("spec/tools/demo.yaml", 9),
        ("spec/tools/demo.yaml", 27),
    ]


def test_an_alias_may_repeat_a_value_but_not_hold_itself(tmp_path: Path) -> None:
    repeated = changed(DEMO, "needs: []", "needs: &none []").replace("kills: []", "kills: *none")
    assert load_catalogue(write_spec(tmp_path, tools__demo=repeated)).rules[1].kills == ()

    endless = changed(DEMO, "needs: []", "needs: &endless [*endless]")
    assert "an alias holds itself" in only(write_spec(tmp_path, tools__demo=endless))


def with_vectors(text: str = COERCION) -> str:
    return changed(DEMO, "    kills: [broken]\n", "    kills: [broken]\n" + text)


def test_vector_rows_keep_their_input_answer_and_line(tmp_path: Path) -> None:
    [row] = load_catalogue(write_spec(tmp_path, tools__demo=with_vectors())).rules[0].vectors

    assert (row.case, row.kind, row.side, row.line) == ("a-number", "coercion", None, 17)
    assert row.values == {"schema": {"type": "number"}, "arguments": '"7"', "answer": {"value": 7}}


def test_vector_rows_may_stand_in_a_file_of_their_own(tmp_path: Path) -> None:
    rows = "".join(f"- {{case: {case}, schema: {{}}, arguments: '1', answer: {{}}}}\n" for case in ("a-number", "b"))
    root = write_spec(
        tmp_path,
        tools__demo=with_vectors("    vectors: {kind: coercion, file: vectors/demo.yaml}\n"),
        tools__vectors__demo=rows,
    )

    assert [(row.case, row.file, row.line) for row in load_catalogue(root).rules[0].vectors] == [
        ("a-number", "spec/tools/vectors/demo.yaml", 1),
        ("b", "spec/tools/vectors/demo.yaml", 2),
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kind: coercion", "kind: coertion", "15: no kind of vectors is called `coertion`; did you mean coercion?. "
         "Mend: write coercion, schema, content or batch."),
        (", answer: {value: 7}", "", "17: `answer` is missing in the coercion row `a-number`. Mend: add it."),
        ("answer: {value: 7}", "answer: {}, anwser: {}", "17: `anwser` is not a field of coercion rows. "
         "Mend: drop it, or write one of on, prepare or why."),
        ("case: a-number", "case: A", '17: `case` is "A", which has not the right form. '
         "Mend: give the row a slug in lower case with hyphens, unique within the rule."),
        ("case: a-number", "case: a-number, on: pi", "17: the row `a-number` names a side, and demo.works has none "
         "(relation same). Mend: drop on, or make the rule differ."),
        ("      rows:\n", "      file: vectors/demo.yaml\n      rows:\n", "14: `vectors` holds too much. "
         "Mend: write vectors: {kind: …, file: vectors/….yaml} or vectors: {kind: …, rows: […]}."),
    ],
)  # fmt: skip
def test_broken_vectors_are_rejected_where_they_are_broken(tmp_path: Path, old: str, new: str, message: str) -> None:
    root = write_spec(tmp_path, tools__demo=with_vectors(changed(COERCION, old, new)))
    assert only(root) == f"spec/tools/demo.yaml:{message}"


def test_two_rows_of_one_case_are_rejected(tmp_path: Path) -> None:
    row = COERCION.splitlines(keepends=True)[-1]
    assert "the rule demo.works has two rows called `a-number`" in only(
        write_spec(tmp_path, tools__demo=with_vectors(COERCION + row))
    )


def test_a_row_of_a_difference_names_its_side(tmp_path: Path) -> None:
    demo = changed(DEMO, "    kills: []\n", "    kills: []\n" + COERCION)
    assert "add on: pi or on: bridge" in only(write_spec(tmp_path, tools__demo=demo))


def test_a_vector_file_that_is_missing_or_forgotten_is_reported(tmp_path: Path) -> None:
    demo = with_vectors("    vectors: {kind: coercion, file: vectors/gone.yaml}\n")
    root = write_spec(tmp_path, tools__demo=demo, tools__vectors__forgotten="- {case: a}\n")

    assert [str(problem).split(". Mend")[0] for problem in rejected(root)] == [
        "spec/tools/demo.yaml:14: the file vectors/gone.yaml is not there",
        "spec/tools/vectors/forgotten.yaml:1: no rule names this file",
    ]


def test_the_message_counts_and_lists_the_problems(tmp_path: Path) -> None:
    root = write_spec(tmp_path, tools__demo=DEMO.replace("level: must", "level: shall").replace("since: 2", "since: 0"))
    with pytest.raises(CatalogueError, match=r"^2 problems in the rules:\n  spec/tools/demo.yaml:9: .*\n  spec/"):
        load_catalogue(root)
