"""A test command of the repository's own that is quick: journeys about kills repeat proofs, not pytest's start."""

from tests.demo import shop

POLICY = """enabled: true
tests:
  - name: quick
    framework: pytest
    run: [python3, check.py, "{report}"]
    run_named: [python3, check.py, "{report}", "{id}"]
"""

CHECK = """import importlib
import sys
from xml.sax.saxutils import quoteattr

report, test = sys.argv[1:]
file, _, name = test.partition("::")
sys.path.insert(0, ".")
module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
try:
    getattr(module, name)()
    ending = ""
except AssertionError:
    ending = "<failure message='wrong'/>"
row = f"<testcase classname={quoteattr(module.__name__)} name={quoteattr(name)}>{ending}</testcase>"
with open(report, "w") as out:
    out.write(f"<testsuite name='quick' tests='1'>{row}</testsuite>")
"""

FILES = {**shop.FILES, ".github/remedy.yml": POLICY, "check.py": CHECK}
