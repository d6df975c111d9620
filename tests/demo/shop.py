"""The little repository of journeys and demo: a page counter, its tests, and a change that breaks full pages."""

PAGES = '''"""How many pages a list has."""


def page_count(total: int, size: int) -> int:
    """Number of pages for `total` rows, `size` rows on a page."""
    return -(-total // size)
'''

BROKEN = PAGES.replace(
    '"""Number of pages for `total` rows, `size` rows on a page."""',
    '"""Number of pages for `total` rows, `size` rows on a page; an empty list has one page."""',
).replace("return -(-total // size)", "return total // size + 1")

TESTS = """from listing.pages import page_count


def test_a_part_of_a_page_counts():
    assert page_count(21, 10) == 3


def test_last_page_is_full():
    assert page_count(20, 10) == 2
"""

NEW_TEST = """

def test_empty_list_has_one_page():
    assert page_count(0, 10) == 1
"""

WORKFLOW = """name: CI
on: push
jobs:
  unit:
    name: unit
    steps:
      - uses: actions/checkout@v5
      - name: Run tests
        run: python -m pytest -p no:cacheprovider
"""

FILES = {
    "listing/__init__.py": "",
    "listing/pages.py": PAGES,
    "tests/test_pages.py": TESTS,
    ".github/workflows/ci.yml": WORKFLOW,
    ".github/remedy.yml": "enabled: true\n",
    "CONTRIBUTING.md": "Keep functions small. Every fix needs a test that fails without it.\n",
    "README.md": "# Listing\n",
}

CHANGE = {"listing/pages.py": BROKEN, "tests/test_pages.py": TESTS + NEW_TEST}
"""An empty list gets one page, and every full last page one too many."""

FAILING = "tests/test_pages.py::test_last_page_is_full"

FIRST_TRY = [("listing/pages.py", "return total // size + 1", "return max(1, int(total / size + 0.9))")]
"""Makes every test pass, and is wrong where a page holds more than ten rows: 101 rows, 100 on a page, need two."""
SECOND_TRY = [("listing/pages.py", "return total // size + 1", "return max(1, -(-total // size))")]
BREAKS_ANOTHER = [("listing/pages.py", "return total // size + 1", "return total // size + (total % size > 0)")]
"""Makes the named test pass and loses the page of the empty list, which another test asks for."""
ONLY_HERE = [
    ("listing/pages.py", '"""How many pages a list has."""\n', '"""How many pages a list has."""\n\nimport os\n'),
    (
        "listing/pages.py",
        "return total // size + 1",
        "return max(1, -(-total // size)) if os.environ.get('NO_COLOR') else total // size + 1",
    ),
]
"""Right where tests are proven, wrong in CI: it asks for a variable that is not there."""
WEAKENS = [("tests/test_pages.py", "assert page_count(20, 10) == 2", "assert page_count(20, 10) >= 2")]
"""Makes the named test pass by asking it for less."""
