"""A test command of the repository's own that is quick: most journeys wait for proofs, not to see pytest start."""

from tests.demo import shop

TESTS = """tests:
  - name: quick
    framework: pytest
    run: [python3, check.py, "{report}"]
    run_named: [python3, check.py, "{report}", "{id}"]
"""
POLICY = f"enabled: true\n{TESTS}"

CHECK = """import importlib
import sys
from pathlib import Path
from xml.sax.saxutils import quoteattr

sys.path.insert(0, ".")
report, *named = sys.argv[1:]
files = [named[0].partition("::")[0]] if named else [str(path) for path in Path("tests").glob("test_*.py")]
rows = []
for file in files:
    module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
    for name in [named[0].partition("::")[2]] if named else [one for one in vars(module) if one.startswith("test_")]:
        try:
            getattr(module, name)()
            ending = ""
        except AssertionError:
            ending = "<failure message='wrong'/>"
        rows.append(f"<testcase classname={quoteattr(module.__name__)} name={quoteattr(name)}>{ending}</testcase>")
with open(report, "w") as out:
    out.write(f"<testsuite name='quick' tests='{len(rows)}'>{''.join(rows)}</testsuite>")
"""

BESIDE = {"listing/__init__.py": "", "check.py": CHECK}
"""What a repository needs beside the code for this command."""
FILES = {**shop.FILES, ".github/remedy.yml": POLICY, "check.py": CHECK}
