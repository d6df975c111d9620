"""`.github/remedy.yml`: strict, with line and nearest name: A1, A15, A16, IT-8, IT-9, decisions 43 to 78, PX-30."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.policy import Policy, PolicyError, load_policy, read_policy
from app.settings import Limits


def read(text: str) -> Policy:
    found = read_policy(text.encode())
    assert isinstance(found, Policy), found
    return found


def mistake(text: str | bytes) -> PolicyError:
    found = read_policy(text if isinstance(text, bytes) else text.encode())
    assert isinstance(found, PolicyError), found
    return found


EVERYTHING = """\
# every key of decisions.md 51 and 75
enabled: true
repair: [tests, build, lint]
causes: [this_change, base_red]
repair_on: 2
rerun_first: false
approval: both
publish: suggestions
issues: base
allow_test_only_fix: true
waive: [TI630, MM100]
self_repair: false
flaky: {commits: 3, days: 14}
branches: [main, "release/*"]
drafts: true
allowed_bots:
  - {login: "dependabot[bot]", id: 49699333}
commanders: {role: maintain, people: [{login: amy, id: 5}]}
max_failures: 10
max_detail_chars: 0
tags: " a, ,b "
protected: ["deploy/**"]
aliases: {NASFLIX: acme/aloe}
runner:
  agent: {id: acme/tools/opencode, config: {model: "x", temperature: 0.5}, allow: {agent_tools: {fetch: deny}}}
  supervisor: {id: acme/tools/claude}
limits: {rounds: 1, proof_s: 60}
comment: when_needed
hand_over: false
annotations: false
show_cost: true
tests:
  - name: unit
    framework: generic
    paths: ["services/api/**"]
    setup: [["./ci/install"]]
    run: ["./ci/test", "--junit", "{report}"]
    run_named: ["./ci/test", "--junit", "{report}", "--only", "{id}"]
    report: tap
    id: "{classname}.{name}"
    source: ["lib/**"]
    test: ["cases/**"]
    harness: ["ci/**"]
  - {name: quick, framework: pytest}
"""


def test_every_key_is_read():
    policy = read(EVERYTHING)
    assert set(policy.model_fields_set) == set(Policy.model_fields)
    assert policy.tags == ("a", "b")
    assert policy.runner.agent.config == {"model": "x", "temperature": 0.5}
    assert policy.tests[0].run_named == ("./ci/test", "--junit", "{report}", "--only", "{id}")
    assert policy.allowed_bots[0].id == 49699333


def test_a_policy_survives_the_database():
    """It is kept as JSON beside the repository (domain.md, 2.1)."""
    for text in ("", "commanders: admin", EVERYTHING):
        policy = read(text)
        assert Policy.model_validate(json.loads(json.dumps(policy.model_dump(mode="json")))) == policy


def test_the_defaults_are_those_of_the_decision():
    """Decisions 51 and 75."""
    policy = read("")
    assert policy == Policy()
    assert (policy.enabled, policy.repair, policy.causes) == (False, ("tests", "build"), ("this_change",))
    assert (policy.publish, policy.approval, policy.issues, policy.comment) == (
        "stacked_pr",
        "none",
        "always",
        "always",
    )
    assert (policy.max_failures, policy.max_detail_chars, policy.repair_on) == (50, 3000, 1)
    assert (policy.rerun_first, policy.self_repair, policy.hand_over, policy.annotations) == (True, True, True, True)
    assert (policy.drafts, policy.allow_test_only_fix, policy.show_cost) == (False, False, None)
    assert policy.commanders.role == "write"


def test_no_file_is_silence():
    """IT-8, W88."""
    assert read_policy(None) is None
    assert load_policy(lambda _: None, lambda _: b"enabled: true") is None


@pytest.mark.parametrize("text", ["", "# nothing", "enabled:", "enabled: ''", "enabled: false", "repair: [lint]"])
def test_a_file_that_does_not_say_so_is_off(text):
    assert read(text).enabled is False


@pytest.mark.parametrize("value", ['"1"', "1", "yes", "on", "yes-please", '"true"', "[true]", "TRUE please"])
def test_only_the_boolean_turns_it_on(value):
    """A1: anything else is a mistake, and not one that anybody is told."""
    found = mistake(f"enabled: {value}\n")
    assert (found.field, found.wants_remedy) == ("enabled", False)


@pytest.mark.parametrize("blank", ["", '""', '"   "', "null", "~"])
@pytest.mark.parametrize("key", ["max_failures", "publish", "tags", "repair", "flaky", "tests", "limits", "runner"])
def test_blank_means_the_default(key, blank):
    """A16, IT-9."""
    assert read(f"enabled: true\n{key}: {blank}\n") == Policy(enabled=True)


def test_blank_means_the_default_inside_a_part_too():
    assert read("flaky: {commits: , days: 3}").flaky.commits == 2


MISTAKES = [
    ("a word for a number (A16)", "enabled: true\nmax_failures: x\n", (2, 15), "max_failures", "a whole number"),
    ("a key that is no key", "a: 1\n", (1, 1), "a", "`a` is no key; the keys here are: aliases,"),
    ("a slip of the pen", "enabled: true\npublsh: commit\n", (2, 1), "publsh", "did you mean `publish`?"),
    ("a slip inside a part", "limits:\n  round: 1\n", (2, 3), "limits.round", "did you mean `rounds`?"),
    ("a slip inside a list", "tests:\n- name: a\n  runs: [x]\n", (3, 3), "tests.0.runs", "did you mean `run`?"),
    ("a choice that is none", "publish: stacked-pr", (1, 10), "publish", "stacked_pr, commit, suggestions, patch"),
    ("an entry that is no choice", "repair: [tests, test]", (1, 17), "repair.1", "entry 2 of `repair` must be one of:"),
    ("a role that is none", "commanders: owner", (1, 13), "commanders", "`commanders` must be one of: write, maintain"),
    ("text where a list belongs", "branches: main", (1, 11), "branches", "`branches` must be a list"),
    ("a list where text belongs", "tags: {a: b}", (1, 7), "tags", "must be text, with a comma between two tags"),
    ("a number where text belongs", "branches: [3.10]", (1, 12), "branches.0", "put it in quotes"),
    ("a number where keys belong", "flaky: 3", (1, 8), "flaky", "must have keys of its own"),
    ("too small", "repair_on: 0", (1, 12), "repair_on", "must be at least 1"),
    ("too large", "flaky: {days: 400}", (1, 15), "flaky.days", "must be at most 365"),
    ("a part that is missing", "allowed_bots: [{login: a}]", (1, 16), "allowed_bots.0.id", "id` is missing"),
    ("a key twice", "enabled: true\ndrafts: true\nenabled: true", (3, 1), "", "the first is on line 1"),
    ("an alias", "tags: &a b\nissues: *a", (2, 9), "", "aliases"),
    ("a tag", "tags: !!python/name:os.system x", (1, 7), "", "tags (`!name`) are not read here"),
    ("a merge", "<<: {enabled: true}", (1, 1), "<<", "is no key"),
    ("`on` stays text", "on: push", (1, 1), "on", "`on` is no key"),
    ("broken YAML (A16)", "enabled: true\ntags: [a\n", (3, 1), "", "expected ',' or ']'"),
    ("a tab", "limits:\n\trounds: 1", (2, 1), "", "cannot start any token"),
    ("two documents", "enabled: true\n---\nenabled: true", (2, 1), "", "another document"),
    ("a list for a file", "- enabled", (1, 1), "", "must have keys"),
    ("a word for a file", "enabled", (1, 1), "", "must have keys"),
    ("very deep", "a: " + "[" * 60_000, (1, 23), "", "nested too deeply"),
    ("a key that is a list", "[a]: b", (1, 1), "", "a key must be one word"),
    ("a runner by its path (RN-74)", "runner: {agent: {id: ./x}}", (1, 22), "runner.agent.id", "author/name/runner"),
    ("no command", "tests: [{name: a}]", (1, 9), "tests.0", "`run` is needed for the framework generic"),
    ("no report (PX-30)", "tests:\n- name: a\n  run: [x]", (2, 3), "tests.0", "`run` must hold {report}"),
    ("a shell line (PX-30)", "tests:\n- name: a\n  run: make", (3, 8), "tests.0.run", "must be a list"),
    ("no id", "tests: [{name: a, run: ['{report}'], run_named: ['{report}']}]", (1, 9), "tests.0", "`run_named` must"),
    ("an image (decision 43)", "tests:\n- name: a\n  image: x", (3, 3), "tests.0.image", "`image` is no key"),
    ("one name twice", "tests: [{name: a, framework: go}, {name: a, framework: go}]", (1, 8), "tests", "same name"),
]  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES, ids=lambda case: case[0])
def test_a_mistake_is_told_with_its_place(case):
    """A16, style 2.9: line, column, key, and what would be right."""
    _, text, place, field, sentence = case
    found = mistake(text)
    assert ((found.line, found.column), found.field) == (place, field)
    assert sentence in found.text
    lines = text.splitlines()
    assert found.excerpt == (lines[found.line - 1][:200] if found.line <= len(lines) else "")


def test_the_first_mistake_of_the_file_is_told():
    assert mistake("repair_on: x\nenabled: 3\nzzz: 1").field == "repair_on"
    assert mistake("zzz: 1\nrepair_on: x").field == "zzz"


@pytest.mark.parametrize(
    ("text", "wants"),
    [
        ("enabled: true\npublish: x", True),
        ("enabled: false\npublish: x", False),
        ("publish: x", False),
        ("enabled: true   # please\ntags: [", True),
        ("enabled: true\r\ntags: [", True),
        ("enabled: 'true'\ntags: [", False),
        ("  enabled: true\ntags: [", False),
        ("enabled: true\nenabled: false\ntags: [", False),
        ("# enabled: true\ntags: [", False),
    ],
)
def test_a_mistake_is_told_only_where_the_file_turns_remedy_on(text, wants):
    """A1 and A16 together."""
    assert mistake(text).wants_remedy is wants


def test_what_is_no_text_or_too_large_is_a_mistake():
    assert mistake(b"enabled: true\n\xff").text == "the file is not UTF-8 text"
    assert "larger than 65536" in mistake(b"#" * 70_000).text
    assert mistake(b"a: \x00").line == 1
    assert read_policy(b"\xef\xbb\xbfenabled: true") == Policy(enabled=True)


def test_values_of_yaml_1_1_stay_text():
    """pins.md 8."""
    assert read("branches: [on, yes, 017, 1:30, 2026-01-01, 1_000]").branches == (
        *("on", "yes", "017", "1:30", "2026-01-01", "1_000"),
    )


def test_the_organisation_fills_only_what_is_left_out():
    """Decision 78."""
    own, default = b"enabled: true\nissues: never", b"enabled: false\nissues: base\ndrafts: true\nflaky: {days: 3}"
    policy = load_policy(lambda _: own, lambda _: default)
    assert isinstance(policy, Policy)
    assert (policy.enabled, policy.issues, policy.drafts, policy.flaky.days) == (True, "never", True, 3)
    off = load_policy(lambda _: b"drafts: false", lambda _: b"enabled: true")
    assert isinstance(off, Policy) and off.enabled is False


def test_a_mistake_of_the_organisation_names_its_file():
    for default in (b"issues: sometimes", b"issues: ["):
        found = read_policy(b"enabled: true", default)
        assert isinstance(found, PolicyError)
        assert (found.path, found.line, found.wants_remedy) == (".github/remedy.yml of the organisation", 1, True)
    own = read_policy(b"\n\nissues: sometimes", b"issues: base")
    assert isinstance(own, PolicyError) and (own.path, own.line) == (".github/remedy.yml", 3)


def test_the_reader_is_asked_for_the_one_file():
    """Decision 65: a callable, no import of the client."""
    asked: list[str] = []
    load_policy(lambda path: asked.append(path))
    assert asked == [".github/remedy.yml"]


def test_a_policy_only_lowers_limits():
    """domain.md 6, S37."""
    policy = read("limits: {rounds: 1, proof_s: 99999}\nmax_failures: 900")
    limited = policy.limited(Limits())
    assert (limited.rounds, limited.proof_s, limited.max_failures) == (1, Limits().proof_s, 50)
    assert read("").limited(Limits()) == Limits()
    assert read("").limited(Limits(max_failures=5)).max_failures == 5


def test_every_lower_limit_is_a_limit_of_the_operator():
    assert set(type(Policy().limits).model_fields) <= set(Limits.model_fields)


COMMANDERS = [
    ("", "write", "", 1, True),
    ("", "read", "", 1, False),
    ("", "none", "", 1, False),
    ("", "", "admin", 1, False),
    ("commanders: maintain", "write", "write", 1, False),
    ("commanders: maintain", "write", "maintain", 1, True),
    ("commanders: maintain", "admin", "admin", 1, True),
    ("commanders: admin", "write", "maintain", 1, False),
    ("commanders: maintain", "write", "a custom role", 1, False),
    ("commanders: {people: [{login: amy, id: 5}]}", "write", "", 5, True),
    ("commanders: {people: [{login: amy, id: 5}]}", "admin", "", 1, False),
    ("commanders: {people: [{login: amy, id: 5}]}", "read", "", 5, False),
]


@pytest.mark.parametrize("case", COMMANDERS, ids=lambda case: f"{case[0]}-{case[1]}-{case[2]}-{case[3]}")
def test_who_may_command(case):
    """CM-6, security.md 9: the file narrows, it never widens; people count by id (FK-8)."""
    text, permission, role, user_id, may = case
    assert read(text).lets(user_id, permission, role) is may


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text):
    assert isinstance(read_policy(text.encode("utf-8", "surrogatepass")), Policy | PolicyError)


@given(st.lists(st.sampled_from([*EVERYTHING.split("\n"), "  ", "- ", "{", "]", "*a", "&a", "? x", "| "]), max_size=15))
def test_any_mix_of_lines_is_read_or_refused(lines):
    assert isinstance(read_policy("\n".join(lines).encode()), Policy | PolicyError)
