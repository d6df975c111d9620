"""TI300 to TI340, TI500 to TI630: configuration, hooks, exits, expected output, gates and things, in both directions."""  # noqa: E501

from dataclasses import dataclass

import pytest

from app.integrity.model import Blob
from tests.unit.integrity.fixes import GONE, Words, fix, grid, said
from tests.unit.integrity.test_weaker import PY, py


@dataclass(frozen=True)
class Case:
    name: str
    path: str
    old: str
    new: str
    rule: str = ""
    severity: str = "block"


INI = "[pytest]\ntestpaths = tests\n"
YML = "jobs:\n  test:\n    steps:\n      - run: python -m pytest -q\n"
HELPER = "import pytest\n"
CASES = [
    Case("deselect", "pytest.ini", INI, INI + "addopts = --deselect tests/test_a.py::test_a\n", "TI300"),
    Case("ignore", "pytest.ini", INI, INI + "addopts = --ignore=tests/test_a.py\n", "TI300"),
    Case("keyword", "setup.cfg", "[tool:pytest]\n", "[tool:pytest]\naddopts = -k 'not a'\n", "TI300"),
    Case(
        "python files", "pytest.ini", INI + "python_files = test_*.py\n", INI + "python_files = check_*.py\n", "TI300"
    ),
    Case("jest ignore", "package.json", '{"jest": {}}', '{"jest": {"testPathIgnorePatterns": ["a.test.js"]}}', "TI300"),
    Case(
        "jest match",
        "jest.config.js",
        "module.exports = { testMatch: ['**/*.test.js'] };\n",
        "module.exports = { testMatch: ['**/b.test.js'] };\n",
        "TI300",
    ),
    Case(
        "pass with no tests",
        "package.json",
        '{"scripts": {"test": "jest"}}',
        '{"scripts": {"test": "jest --passWithNoTests"}}',
        "TI300",
    ),
    Case(
        "vitest exclude",
        "vitest.config.js",
        "export default { test: {} };\n",
        "export default { test: { exclude: ['test/a*'] } };\n",
        "TI300",
    ),
    Case("mocha invert", ".mocharc.json", "{}", '{"grep": "a", "invert": true}', "TI300"),
    Case("mocha ignore", ".mocharc.yml", "spec: test\n", "spec: test\nignore: test/a.spec.js\n", "TI300"),
    Case("rspec", ".rspec", "--require spec_helper\n", "--require spec_helper\n--tag ~slow\n", "TI300"),
    Case("cargo", "Cargo.toml", '[package]\nname = "a"\n', '[package]\nname = "a"\nautotests = false\n', "TI300"),
    Case(
        "cargo test", "Cargo.toml", '[package]\nname = "a"\n', '[package]\nname = "a"\n[lib]\ntest = false\n', "TI300"
    ),
    Case("maven", "pom.xml", "<project/>\n", "<project>\n<skipTests>true</skipTests>\n</project>\n", "TI300"),
    Case("gradle", "build.gradle", "test {\n}\n", "test {\n  exclude '**/ATest*'\n}\n", "TI300"),
    Case("build tag", "a_test.go", "package a\n", "//go:build integration\n\npackage a\n", "TI300"),
    Case(
        "rakefile",
        "Rakefile",
        "Rake::TestTask.new do |t|\n  t.pattern = 'test/**/*_test.rb'\nend\n",
        "Rake::TestTask.new do |t|\n  t.pattern = 'test/b_test.rb'\nend\n",
        "TI300",
    ),
    Case("reruns", "pytest.ini", INI, INI + "reruns = 3\n", "TI250"),
    Case(
        "more is collected",
        "jest.config.js",
        "module.exports = {\n  testMatch: ['**/*.test.js'],\n};\n",
        "module.exports = {\n  testMatch: ['**/*.test.js', '**/*.spec.js'],\n};\n",
        "TI301",
        "review",
    ),
    Case("path", "pytest.ini", INI + "pythonpath = .\n", INI + "pythonpath = src\n", "TI301", "review"),
    Case(
        "hook of results",
        "conftest.py",
        HELPER,
        HELPER + "\n\ndef pytest_runtest_logreport(report):\n    report.outcome = 'passed'\n",
        "TI310",
    ),
    Case(
        "hook of items",
        "tests/conftest.py",
        HELPER,
        HELPER + "\n\ndef pytest_collection_modifyitems(items):\n    items[:] = []\n",
        "TI310",
    ),
    Case(
        "ignore collect",
        "conftest.py",
        HELPER,
        HELPER + "\n\ndef pytest_ignore_collect(collection_path):\n    return True\n",
        "TI310",
    ),
    Case(
        "rspec filter",
        "spec/spec_helper.rb",
        "require 'a'\n",
        "require 'a'\nRSpec.configure do |c|\n  c.filter_run_excluding :slow\nend\n",
        "TI310",
    ),
    Case(
        "test main", "a_test.go", "package a\n", "package a\n\nfunc TestMain(m *testing.M) {\n\tm.Run()\n}\n", "TI310"
    ),
    Case("true", ".github/workflows/ci.yml", YML, YML.replace("-q", "-q || true"), "TI320"),
    Case(
        "continue",
        ".github/workflows/ci.yml",
        YML,
        YML.replace("      - run", "      - continue-on-error: true\n        run"),
        "TI320",
    ),
    Case("never", ".github/workflows/ci.yml", YML, YML.replace("  test:\n", "  test:\n    if: false\n"), "TI320"),
    Case("step gone", ".github/workflows/ci.yml", YML, YML.replace("      - run: python -m pytest -q\n", ""), "TI320"),
    Case("filtered", ".github/workflows/ci.yml", YML, YML.replace("-q", "-q --deselect tests/test_a.py"), "TI320"),
    Case(
        "another version",
        ".github/workflows/ci.yml",
        YML,
        YML.replace("steps:", "env: {A: 1}\n    steps:"),
        "TI320",
        "review",
    ),
    Case(
        "exit of a hook",
        "tests/conftest.py",
        HELPER,
        "import os\n\n\ndef pytest_unconfigure():\n    os._exit(0)\n",
        "TI340",
    ),
    Case("exit of a module", "lib/a.js", "module.exports = 1;\n", "process.exit(0);\nmodule.exports = 1;\n", "TI340"),
    Case("exit in source", "shop.py", "x = 1\n", "import os\n\nx = 1\nos._exit(0)\n", "TI340"),
    Case("go exit", "shop.go", "package a\n", "package a\n\nfunc init() {\n\tos.Exit(0)\n}\n", "TI340"),
    Case("ruby exit", "lib/a.rb", "A = 1\n", "A = 1\nat_exit { exit!(0) }\n", "TI340"),
    Case(
        "coverage", "setup.cfg", "[coverage:report]\nfail_under = 90\n", "[coverage:report]\nfail_under = 40\n", "TI510"
    ),
    Case("strict", "setup.cfg", "[mypy]\nstrict = True\n", "[mypy]\nstrict = False\n", "TI510"),
    Case(
        "threshold",
        "jest.config.js",
        "module.exports = { coverageThreshold: { global: { lines: 90 } } };\n",
        "module.exports = { coverageThreshold: { global: { lines: 50 } } };\n",
        "TI510",
    ),
    Case(
        "eslint rule",
        ".eslintrc.json",
        '{\n"rules": {\n"eqeqeq": "error"\n}\n}',
        '{\n"rules": {\n"eqeqeq": "off"\n}\n}',
        "TI510",
    ),
    Case("ts strict", "tsconfig.json", '{\n"strict": true\n}', '{\n"strict": false\n}', "TI510"),
    Case("whole file", "src/a.ts", "export const a = 1;\n", "// @ts-nocheck\nexport const a = 1;\n", "TI510"),
    Case(
        "rubocop",
        ".rubocop.yml",
        "Metrics/MethodLength:\n  Max: 10\n",
        "Metrics/MethodLength:\n  Max: 10\n  Enabled: false\n",
        "TI510",
    ),
    Case("golden", "tests/golden/a.txt", "TOTAL 13.75\n", "TOTAL 13.00\n", "TI500", "review"),
    Case("vendored", "vendor/a/a.go", "package a\n", "package a\n\nvar A = 1\n", "TI600"),
    Case(
        "generated",
        "src/a.go",
        "// Code generated by a. DO NOT EDIT.\npackage a\n",
        "// Code generated by a. DO NOT EDIT.\npackage a\n\nvar A = 1\n",
        "TI600",
    ),
    Case("bidi", "shop.py", "x = 1\n", "x = 1  # \u202e\n", "TI610"),
    Case("version", "package.json", '{"version": "1.0.0"}', '{"version": "1.0.1", "description": "a"}'),
    Case(
        "cargo version",
        "Cargo.toml",
        '[package]\nname = "a"\nversion = "0.1.0"\n',
        '[package]\nname = "a"\nversion = "0.1.1"\n',
    ),
    Case("gate raised", "setup.cfg", "[coverage:report]\nfail_under = 80\n", "[coverage:report]\nfail_under = 90\n"),
    Case("comment", "pytest.ini", INI, "# what runs\n" + INI),
    Case(
        "new entry of a snapshot",
        "a/__snapshots__/a.test.js.snap",
        "exports[`a 1`] = `\n1\n`;\n",
        "exports[`a 1`] = `\n1\n`;\n\nexports[`b 1`] = `\n2\n`;\n",
    ),
    Case("readme", "README.md", "a\n", "b\n"),
    Case("command line", "shop/cli.py", "x = 1\n", "import sys\n\n\ndef main():\n    sys.exit(0)\n"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_weakened_surroundings_are_found_and_harmless_ones_are_not(case: Case) -> None:
    found = {
        row for row in said(fix({case.path: case.old}, {case.path: case.new})) if row[0] != "TI010" and row[1] != "info"
    }
    if case.rule:
        assert (case.rule, case.severity) in found, found
    else:
        assert not found


def test_a_hook_that_only_looks_goes_to_a_person() -> None:
    """TI310."""
    new = (
        HELPER
        + "\n\ndef pytest_collection_modifyitems(items):\n    for item in items:\n        item.add_marker('slow')\n"
    )
    assert ("TI310", "review") in said(fix({"conftest.py": HELPER}, {"conftest.py": new}))


def test_a_new_test_of_sameness_is_no_tautology_of_an_old_one() -> None:
    """TI124, PI-4."""
    new = py("assert total(1) == 2") + "\n\ndef test_b():\n    assert total(2) == total(2)\n"
    found = said(fix({PY: py("assert total(1) == 2")}, {PY: new}))
    assert ("TI124", "review") in found
    assert ("TI124", "block") not in found


def test_blobs_links_and_modes_block() -> None:
    """TI610, TI620."""
    head = {"a.py": "x = 1\n"}
    assert ("TI610", "block") in said(fix(head, {"spec/.cache.bin": Blob(b"\x04\x08[\x06I\0")}))
    assert ("TI620", "block") in said(fix(head, {"b.py": Blob(b"/etc/passwd", "120000")}))
    assert ("TI620", "block") in said(fix(head, {"a.py": Blob(b"x = 1\n", "100755")}))


def test_a_deleted_snapshot_blocks() -> None:
    """TI500."""
    head = {"a/__snapshots__/a.test.js.snap": "exports[`a 1`] = `1`;\n"}
    assert ("TI500", "block") in said(fix(head, {"a/__snapshots__/a.test.js.snap": GONE}))


def test_a_golden_file_that_base_satisfies_too_blocks() -> None:
    """TI500 with D = pass: the changed output tells nothing."""
    delta = fix({"tests/golden/a.txt": "1\n"}, {"tests/golden/a.txt": "2\n"})
    assert ("TI500", "block") in said(delta, grid(Words(base_source="pass")))


def test_a_huge_change_goes_to_a_person() -> None:
    """TI630."""
    delta = fix({"shop.py": "x = 1\n"}, {"shop.py": "".join(f"x{n} = {n}\n" for n in range(300))})
    assert ("TI630", "review") in said(delta)


def test_a_lock_file_beside_its_manifest_goes_to_a_person() -> None:
    """TI600."""
    head = {"package.json": '{"dependencies": {"a": "1"}}', "package-lock.json": "{}"}
    fixed = {"package.json": '{"dependencies": {"a": "2"}}', "package-lock.json": '{"a": 2}'}
    assert ("TI600", "review") in said(fix(head, fixed))


def test_a_test_file_that_is_no_code_any_more_is_a_finding() -> None:
    """TI020: never a silent pass."""
    delta = fix({PY: py("assert total(1) == 2")}, {PY: "def test_a(:\n  ((\n"}, named=("tests/test_a.py::test_a",))
    assert ("TI020", "block") in said(delta)


def test_only_tests_changed_is_said() -> None:
    """TI010."""
    delta = fix({PY: py("assert total(1) == 2")}, {PY: py("assert total(1) == 3")})
    assert ("TI010", "review") in said(delta)
    assert ("TI010", "info") in said(delta, grid(Words()))
