"""Configuration of runners and CI, hooks and exit tricks: TI300, TI301, TI310, TI320, TI340."""

import json
import re
from collections.abc import Iterator, Mapping

from app.integrity.model import Finding, Severity
from app.integrity.rules.case import Case, FileView, Spot
from app.integrity.syntax import bare_stream, line_at, stream, text_of, walk, words_of

_CI = re.compile(
    r"(?:^|/)(?:\.github/|\.gitlab-ci|\.circleci/|\.travis\.yml|jenkinsfile|azure-pipelines|\.buildkite/)",
    re.IGNORECASE,
)
_LOCKS = re.compile(
    r"(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|cargo\.lock|go\.sum|poetry\.lock|"
    r"uv\.lock|pipfile\.lock|gemfile\.lock)$",
    re.IGNORECASE,
)
NARROWS = re.compile(
    r"--deselect|--ignore(?:-glob)?\b|(?:^|[\s\"'=])-k[ =\"']|-m[ =]?[\"']?not\b|collect_ignore|norecursedirs|"
    r"--exclude\b|--exclude-pattern|"
    r"passWithNoTests|--pass-with-no-tests|\binvert\b|--grep|--fgrep|(?:^|\s)-g\s|--tag[= ]?~|--skip\b|filter_run|"
    r"filter_gems|"
    r"testPathIgnorePatterns|testIgnore|coveragePathIgnore|modulePathIgnorePatterns|\bexclude\w*\b\s*[:=(]|"
    r"\bignore\b\s*[:=]|"
    r"autotests\s*=\s*false|^\s*test\s*=\s*false|harness\s*=\s*false|<excludes?>|<skipTests>|<skip>|"
    r"testFailureIgnore|skipTests|"
    r"maven\.test\.skip|ignoreFailures\s*=?\s*true|failFast|--no-tests=pass|allow[_-]?empty|--testNamePattern|"
    r"--testPathPattern|"
    r"-run[ =]|-skip[ =]|--lib\b|--doc\b|excludeTestsMatching|exclude '|enabled\s*=\s*false|--last-failed|--lf\b|"
    r"--maxfail=0|"
    r"-p no:|--no-header-tests|--forbid|--collect-only|--co\b|--setup-only|--setup-plan|--dry-run|--no-run|--list\b"
)
_SETS = re.compile(
    r"(?i)\b(testMatch|testRegex|include|spec|roots|testpaths|python_files|python_functions|python_classes|pattern|"
    r"files|--pattern|test_globs|t\.pattern|testDir)\b"
)
_RUNNER_KEY = re.compile(
    r"(?i)addopts|testpaths|pythonpath|python_(?:files|classes|functions)|markers|filterwarnings|xfail_strict|"
    r"timeout|retr(?:y|ies)|"
    r"reruns|jest|vitest|mocha|testEnvironment|setupFiles|globalSetup|transform|moduleNameMapper|testRunner|"
    r"reporters?|bail|"
    r"testMatch|testRegex|include|spec\b|require|\btest\b|scripts|dependencies|devDependencies|\[dev-dependencies\]|"
    r"\[\[test\]\]|"
    r"\[dependencies\]|requires?\b|replace|surefire|junit|plugins?\b|gem\b|rspec|--format|--order|--seed|default"
)
_PLAIN_KEYS = re.compile(
    r'^\s*["\']?(?:version|description|name|author|authors|license|engines|node|requires-python|python_requires|go|ruby|toolchain|homepage|repository|keywords|edition|rust-version|private|url|categories|readme|documentation|maintainers|classifiers)["\']?\s*[:=]'
)
_HOOKS: Mapping[str, re.Pattern[str]] = {
    "python": re.compile(
        r"\bdef (pytest_(?:collection_modifyitems|collection_finish|runtest_makereport|ignore_collect|pyfunc_call|"
        r"runtest_call|"
        r"runtest_protocol|runtest_logreport|runtest_setup|report_teststatus|sessionfinish|deselected|collect_file|"
        r"pycollect_makeitem|"
        r"pycollect_makemodule|make_collect_report|itemcollected|collectreport|generate_tests|exception_interact|"
        r"runtestloop|cmdline_main|"
        r"configure|sessionstart|runtest_teardown|unconfigure|assertion_pass|fixture_setup|"
        r"load_initial_conftests))\b|\bitem \. runtest =|"
        r"\breport \. outcome =|\bexitstatus =|\. wasSuccessful =|\bdeselected\b"
    ),
    "javascript": re.compile(
        r"\bprocess \. on \( \"(?:exit|uncaughtException|unhandledRejection)\"|\bjest \. retryTimes|"
        r"\bjasmine \. getEnv|"
        r"\b(?:afterEach|beforeEach) \( (?:function|async|\(|\w+ =>)(?:.{0,120}?)\b(?:currentTest|state|skip|err|"
        r"errors|suppressedErrors)\b|"
        r"\bRunner \. prototype|\bMocha \. (?:Runner|Test|Suite)|\bglobalThis \. (?:it|test|describe|expect) =|"
        r"\bglobal \. (?:it|test|describe|expect) ="
    ),
    "ruby": re.compile(
        r"\bfilter_run_excluding|\bfilter_run_including|\bfilter_run\b|\bexclusion_filter|\bconfig \. (?:around|"
        r"filter)|\bc \. (?:around|filter)|"
        r"\bMinitest \. (?:after_run|reporter|extensions|run)|\bbefore_teardown|\bafter_teardown|\. (?:exception|"
        r"failures) (?:=|\. clear)|"
        r"\bset_exception|\bat_exit|\bdefine_derived_metadata|\bexample \. (?:skip|pending|metadata)"
    ),
    "go": re.compile(r"\bfunc TestMain \("),
    "java": re.compile(
        r"\bimplements (?:TestExecutionExceptionHandler|ExecutionCondition|TestRule|MethodRule|"
        r"InvocationInterceptor)|\bextends (?:BlockJUnit4ClassRunner|TestWatcher)|@ (?:RunWith|ExtendWith|Category) "
    ),
}
_HOOK_HONEST = re.compile(
    r"\bpytest_(?:generate_tests|configure|sessionstart|load_initial_conftests|runtest_setup|runtest_teardown|"
    r"unconfigure|fixture_setup|collectreport|itemcollected|exception_interact)\b"
)
_CI_OFF = re.compile(
    r"\|\|\s*(?:true|:|exit 0|echo)|continue-on-error:\s*(?:true|\$)|\bif:\s*(?:false|\$\{\{\s*false)|set \+e|"
    r";\s*(?:true|exit 0)\s*$|allow_failure:\s*true|fail-fast:\s*false$|--exit-zero|ignore_failure"
)
_TEST_COMMAND = re.compile(
    r"\b(?:pytest|unittest|npm (?:run )?test|npx|yarn test|pnpm test|jest|vitest|mocha|go test|cargo (?:test|"
    r"nextest)|mvn|gradle\w*|rspec|rake|minitest|tox|nox|make (?:test|check)|node --test|ruby -I|bundle exec)\b"
)


def settings(case: Case) -> Iterator[Finding]:
    """Harness files that are no code, and code that configures a runner."""
    for file in case.of("harness"):
        if _LOCKS.search(file.path):
            continue
        if _CI.search(file.path):
            yield from _ci(case, file)
        elif file.change.new is None:
            yield case.finding("TI301", "review", file, Spot(side="old", before=file.old_lines))
        elif not _is_code(file):
            yield from _settings(case, file)
    for file in case.of("test"):
        yield from _build_tags(case, file)
        if (
            file.change.new is not None
            and file.new is None
            and file.path.rsplit("/", 1)[-1].startswith((".", "run", "Make"))
        ):
            yield from _settings(case, file)


def _is_code(file: FileView) -> bool:
    """Helpers such as conftest.py; `*.config.js` and setup.py are settings written as code."""
    name = file.path.rsplit("/", 1)[-1].casefold()
    return file.new is not None and not re.search(
        r"\.config\.|\.conf\.|^setup\.py$|noxfile|\.mocharc|babel|eslint|^rakefile$|gemfile", name
    )


def _ci(case: Case, file: FileView) -> Iterator[Finding]:
    for n, line in file.added:
        if _CI_OFF.search(line) or (_TEST_COMMAND.search(line) and NARROWS.search(line)):
            yield case.finding("TI320", "block", file, Spot(None, n, after=[line]))
            return
    lost = [line for _, line in file.removed if _TEST_COMMAND.search(line)]
    kept = [line for _, line in file.added if _TEST_COMMAND.search(line)]
    if (lost and len(kept) < len(lost)) or file.change.new is None:
        yield case.finding("TI320", "block", file, Spot(before=lost or file.old_lines))
    elif file.added or file.removed:
        yield case.finding(
            "TI320", "review", file, Spot(None, _first(file), [x for _, x in file.removed], [x for _, x in file.added])
        )


def _first(file: FileView) -> int | None:
    return file.added[0][0] if file.added else None


def _settings(case: Case, file: FileView) -> Iterator[Finding]:
    """TI300 when less runs, TI301 when something else of the runner changed, nothing for names and versions."""
    old, new = _without_noise(file)
    spot = Spot(None, _first(file), [line for _, line in old], [line for _, line in new])
    if re.search(r"(?i)(?:^|/)(?:makefile|justfile)$", file.path):
        old, new = (
            [row for row in old if _TEST_COMMAND.search(row[1])],
            [row for row in new if _TEST_COMMAND.search(row[1])],
        )
    narrowed = [line for _, line in new if len(NARROWS.findall(line)) > _known(line, [text for _, text in old])]
    patterns = _lost_patterns(old, new)
    unignored = not new and any(NARROWS.search(line) for _, line in old)
    if narrowed or patterns:
        yield case.finding("TI300", "block", file, spot)
    elif any(re.search(r"(?i)\breruns\b|retr(?:y|ies)\b|rerunFailing|flaky", line) for _, line in new):
        yield case.finding("TI250", "block", file, spot)
    elif unignored:
        return
    elif any(_RUNNER_KEY.search(line) and not _PLAIN_KEYS.search(line) for _, line in [*old, *new]):
        yield case.finding("TI301", "review", file, spot)


def _known(line: str, old: list[str]) -> int:
    """How often the most similar old line narrowed already."""
    key = re.split(r"[:=]", line.strip())[0]
    return max((len(NARROWS.findall(other)) for other in old if re.split(r"[:=]", other.strip())[0] == key), default=0)


def _without_noise(file: FileView) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Changed lines; a JSON file by its values, so that formatting says nothing."""
    if file.path.casefold().endswith(".json"):
        try:
            old = _flat(json.loads("\n".join(file.old_lines) or "{}"))
            new = _flat(json.loads("\n".join(file.new_lines) or "{}"))
        except (ValueError, RecursionError):
            return file.removed, file.added
        gone = [(1, f"{key}: {value}") for key, value in old.items() if new.get(key) != value]
        come = [(1, f"{key}: {value}") for key, value in new.items() if old.get(key) != value]
        return gone, come
    return file.removed, [row for row in file.added if not row[1].lstrip().startswith(("#", "//", ";"))]


def _flat(value: object, prefix: str = "") -> dict[str, str]:
    if isinstance(value, dict):
        return {k: v for key, inner in value.items() for k, v in _flat(inner, f"{prefix}{key}.").items()}
    return {prefix.rstrip("."): json.dumps(value)}


def _lost_patterns(old: list[tuple[int, str]], new: list[tuple[int, str]]) -> bool:
    """A list of what is collected lost an entry or got another one in its place."""

    def entries(rows: list[tuple[int, str]], key: str) -> set[str]:
        return {
            part
            for _, line in rows
            if (found := _SETS.search(line)) is not None and found[1].casefold() == key
            for part in re.findall(r"[\w./*?+\[\]{}!()|$^\\-]+", line[found.end() :])
            if not part.isalpha() or "=" in line
        }

    keys = {found[1].casefold() for _, line in old if (found := _SETS.search(line)) is not None}
    return any(entries(old, key) - entries(new, key) for key in keys)


_TAG = re.compile(r"^\s*(?://go:build|// \+build|#!\[cfg)\b")


def _build_tags(case: Case, file: FileView) -> Iterator[Finding]:
    """A build tag that takes a test file out of the usual run."""
    for n, line in file.added:
        if _TAG.search(line) and file.before is not None:
            yield case.finding("TI300", "block", file, Spot(None, n, after=[line]))


def hooks(case: Case) -> Iterator[Finding]:
    """TI310: hooks of the runner in conftest, helpers and test files."""
    for file in case.of("harness", "test"):
        if file.new is None:
            continue
        language = "javascript" if file.new.language.name == "typescript" else file.new.language.name
        pattern = _HOOKS.get(language)
        if pattern is None:
            continue
        words = file.new_words
        text = stream(words)
        old = stream(file.old_words)
        fresh = {line for line, _ in file.added}
        for found in pattern.finditer(text):
            line = line_at(words, text, found.start())
            is_new = found[0] not in old
            touched = any(line <= n <= line + 25 for n in fresh)
            if not is_new and not (touched and file.cls == "harness"):
                continue
            severity = _hook_severity(file, found[0], line)
            yield case.finding("TI310", severity, file, Spot(None, line, after=[found[0]]))
            break
        else:
            if file.cls == "harness" and _is_code(file) and text != old:
                yield case.finding(
                    "TI301", "review", file, Spot(None, _first(file), after=[x for _, x in file.added]), soft=True
                )


# What a hook of pytest does when it drops tests or changes what they said.
_REWRITES = re.compile(
    r"\bitems \[ : \]|\bitems \. (?:remove|clear|pop)|\bdel \b|deselect|\bskip|xfail|\bfilter\b|\. outcome =|"
    r"longrepr =|wasxfail|force_result|exitstatus|_exit\b|\breturn (?:True|0|\[|\")|\braise\b|suppress|\bexcept\b"
)


def _hook_severity(file: FileView, hook: str, line: int) -> Severity:
    """A hook that filters or rewrites blocks; one that only looks or sets up goes to a person."""
    assert file.new is not None
    if _HOOK_HONEST.search(hook):
        return "review"
    if not hook.startswith("def "):
        return "block"
    bodies = [n for n in walk(file.new.root) if n.type in file.new.language.functions and n.start_point[0] + 1 == line]
    text = " ".join(bare_stream(words_of(node, file.new.language)) for node in bodies)
    return "block" if not bodies or _REWRITES.search(text) else "review"


_EXITS = re.compile(
    r"(?P<hard>\bos \. _exit|\bos \. abort|\bos \. kill \( os \. getpid|"
    r"\bprocess \. (?:reallyExit|abort|kill \( process)\b|"
    r""
    r"\bprocess \. exitCode = (?:0|undefined)|"
    r"\bRuntime \. getRuntime \( \) \. (?:halt|exit)|(?<![.\w] )\bexit!|\bexit !|\bProcess \. exit!|"
    r"\bsyscall \. Exit|\bat_exit\b|\batexit \. register)|"
    r"(?P<soft>\bsys \. exit\b|\bprocess \. exit\b|\bos \. Exit\b|\bSystem \. exit\b|\b(?:std :: )?process :: exit|"
    r"\braise SystemExit|"
    r"(?<![.\w] )(?<!def )\bexit\b(?= \()|(?<![.\w] )\babort\b(?= \())(?: \( (?P<code>[-\w. \"]*))?"
)
_ENTRY = re.compile(
    r"(?i)(?:^|/)(?:cli|main|__main__|bin|cmd|console|command|commands|app|server|manage|entry\w*|script\w*|tool\w*|"
    r"exe)\b"
)
_ENTRY_FUNCTION = re.compile(
    r"(?i)^(?:main|run|cli|usage|die|fatal|abort|start|entry\w*|execute|dispatch|handle_?sig\w*|shutdown|exit\w*|"
    r"_?main)$"
)


def exits(case: Case) -> Iterator[Finding]:
    """TI340: the process ends itself. A command line that ends with a status of its own is honest."""
    for file in case.of("source", "test", "harness"):
        if file.new is None:
            continue
        words = file.new_words
        text = bare_stream(words)
        old = bare_stream(file.old_words)
        lines = {n for n, _ in file.added}
        for found in _EXITS.finditer(text):
            line = line_at(words, text, found.start())
            if line not in lines or old.count(found[0]) >= text.count(found[0]):
                continue
            severity = _exit_severity(file, found, line)
            if severity is not None:
                yield case.finding("TI340", severity, file, Spot(None, line, after=[file.new_lines[line - 1]]))
                break


def _exit_severity(file: FileView, found: re.Match[str], line: int) -> Severity | None:
    """A status other than 0 hides no failure; an exit in a test is looked at all the same."""
    code = (found["code"] or "").strip()
    failing = code not in ("", "0", "True", "None", "false")
    if file.cls != "source":
        return "review" if failing else "block"
    entry = _ENTRY.search(file.path) is not None or _ENTRY_FUNCTION.match(_function_at(file, line)) is not None
    if found["hard"]:
        return "review" if failing or (entry and "exitCode" not in found[0]) else "block"
    return None if entry or failing else "block"


def _function_at(file: FileView, line: int) -> str:
    """The name of the innermost function around a line; empty for the top of a file."""
    assert file.new is not None
    best = ""
    for node in walk(file.new.root):
        if node.type in file.new.language.functions and node.start_point[0] < line <= node.end_point[0] + 1:
            name = node.child_by_field_name("name")
            best = text_of(name) if name is not None else best
    return best
