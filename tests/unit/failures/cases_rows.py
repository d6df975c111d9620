"""Invented output of compilers and linters: what rows must be read, and what kind of job they make."""
# ruff: noqa: E501 - lines of logs are as long, and as indented, as the tools print them

from dataclasses import dataclass

Row = tuple[str | None, int | None, str | None]


@dataclass(frozen=True)
class Rows:
    """`rows` are (file, line, code) in order; `tool` and `message` are those of the first one."""

    name: str
    text: str
    rows: tuple[Row, ...]
    kind: str
    tool: str | None = None
    message: str = ""


CASES = (
    Rows(
        "gcc",
        """\
src/a.c: In function 'main':
src/a.c:3:5: error: 'x' undeclared (first use in this function)
    3 |     x = 1;
      |     ^
src/a.c:9:1: warning: control reaches end of non-void function [-Wreturn-type]
make: *** [Makefile:2: a.o] Error 1
""",
        (("src/a.c", 3, None), ("src/a.c", 9, "-Wreturn-type")),
        "compile_error",
        "gcc",
        "'x' undeclared",
    ),
    Rows(
        "clang fatal error, no column",
        "b.cpp:2: fatal error: 'nope.h' file not found\n",
        (("b.cpp", 2, None),),
        "compile_error",
        "gcc",
    ),
    Rows(
        "linker",
        """\
/usr/bin/ld: /tmp/ccX.o: in function `main':
l.cpp:(.text+0x5): undefined reference to `g()'
collect2: error: ld returned 1 exit status
""",
        (("l.cpp", None, None),),
        "compile_error",
        "ld",
        "undefined reference to `g()'",
    ),
    Rows(
        "msvc",
        "D:\\a\\src\\cart.cpp(12): error C2065: 'x': undeclared identifier\n",
        (("D:\\a\\src\\cart.cpp", 12, "C2065"),),
        "compile_error",
        "msvc",
    ),
    Rows(
        "msvc linker",
        "main.obj : error LNK2019: unresolved external symbol foo\n",
        (("main.obj", None, "LNK2019"),),
        "compile_error",
        "ld",
    ),
    Rows(
        "rustc",
        """\
error[E0308]: mismatched types
  --> src/lib.rs:12:5
   |
12 |     "a"
   |     ^^^ expected `i32`, found `&str`

warning: unused variable: `y`
 --> src/lib.rs:3:9

error: could not compile `shop` due to previous error
""",
        (("src/lib.rs", 12, "E0308"), ("src/lib.rs", 3, None)),
        "compile_error",
        "rustc",
        "mismatched types",
    ),
    Rows(
        "rustc of 2015",
        "src/lib.rs:12:5: 12:9 error: unresolved name `x` [E0425]\n",
        (("src/lib.rs", 12, None),),
        "compile_error",
        "rustc",
    ),
    Rows(
        "go build below its package",
        """\
# example.com/shop/cart
./cart.go:5:2: undefined: total
cart/other.go:9: something entirely new happened
FAIL	example.com/shop/cart [build failed]
""",
        (("./cart.go", 5, None), ("cart/other.go", 9, None)),
        "compile_error",
        "go-build",
    ),
    Rows(
        "go vet below its package",
        """\
# example.com/shop/cart
cart/cart.go:12:2: Printf format %s has arg x of wrong type int
""",
        (("cart/cart.go", 12, None),),
        "compile_error",
    ),
    Rows(
        "javac",
        """\
/src/main/java/Cart.java:9: error: cannot find symbol
        total();
        ^
  symbol:   method total()
1 error
""",
        (("/src/main/java/Cart.java", 9, None),),
        "compile_error",
        "javac",
    ),
    Rows(
        "maven compiler",
        """\
[ERROR] COMPILATION ERROR : 
[ERROR] /src/main/java/Cart.java:[9,15] cannot find symbol
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.8.1:compile (default-compile) on project shop: Compilation failure
""",
        (("/src/main/java/Cart.java", 9, None),),
        "compile_error",
        None,
        "cannot find symbol",
    ),
    Rows(
        "kotlinc, old and new",
        """\
e: /src/Cart.kt: (12, 3): Unresolved reference: total
e: file:///src/Cart.kt:14:3 Unresolved reference: sum
""",
        (("/src/Cart.kt", 12, None), ("/src/Cart.kt", 14, None)),
        "compile_error",
        "kotlinc",
    ),
    Rows(
        "scalac under sbt",
        """\
[error] /src/Cart.scala:12:5: not found: value total
[error]     total
[error]     ^
[error] one error found
""",
        (("/src/Cart.scala", 12, None),),
        "compile_error",
        "scalac",
    ),
    Rows(
        "tsc, plain and pretty",
        """\
src/a.ts(3,13): error TS7006: Parameter 'y' implicitly has an 'any' type.
src/b.ts:5:12 - error TS2345: Argument of type 'boolean' is not assignable.
""",
        (("src/a.ts", 3, "TS7006"), ("src/b.ts", 5, "TS2345")),
        "compile_error",
        "tsc",
    ),
    Rows(
        "csc with its project",
        "Cart.cs(20,40): error CS0103: The name 'key' does not exist [/src/Shop.csproj]\n",
        (("Cart.cs", 20, "CS0103"),),
        "compile_error",
        "csc",
    ),
    Rows(
        "swiftc",
        "/src/Cart.swift:12:5: error: cannot find 'x' in scope\n",
        (("/src/Cart.swift", 12, None),),
        "compile_error",
        "swiftc",
    ),
    Rows(
        "ghc",
        """\
src/Cart.hs:12:3: error: [GHC-88464]
    Variable not in scope: total
""",
        (("src/Cart.hs", 12, "GHC-88464"),),
        "compile_error",
        "ghc",
    ),
    Rows(
        "elixir 1.10",
        "== Compilation error in file lib/cart.ex ==\n** (CompileError) lib/cart.ex:12: undefined function total/0\n",
        (("lib/cart.ex", 12, "CompileError"),),
        "compile_error",
        "elixirc",
    ),
    Rows(
        "elixir 1.17",
        """\
    error: undefined function total/0
    │
 12 │   total()
    │   ^^^^^
    │
    └─ lib/cart.ex:12:3: Cart.sum/0
""",
        (("lib/cart.ex", 12, None),),
        "compile_error",
        "elixirc",
        "undefined function total/0",
    ),
    Rows(
        "erlc",
        "src/cart.erl:12:3: function total/0 undefined\n",
        (("src/cart.erl", 12, None),),
        "compile_error",
        "erlc",
    ),
    Rows(
        "ocaml",
        'File "src/cart.ml", line 12, characters 3-8:\nError: Unbound value total\n',
        (("src/cart.ml", 12, None),),
        "compile_error",
        "ocaml",
    ),
    Rows(
        "dmd",
        "source/app.d(12,3): Error: undefined identifier `x`\n",
        (("source/app.d", 12, None),),
        "compile_error",
        "dmd",
    ),
    Rows(
        "dart",
        "  error • Undefined name 'x' • lib/cart.dart:12:3 • undefined_identifier\n",
        (("lib/cart.dart", 12, "undefined_identifier"),),
        "compile_error",
        "dart",
    ),
    Rows(
        "php syntax",
        "PHP Parse error:  syntax error, unexpected '}' in src/Cart.php on line 12\n",
        (("src/Cart.php", 12, None),),
        "compile_error",
        "php",
    ),
    Rows(
        "cmake is configuration",
        "CMake Error at CMakeLists.txt:12 (find_package):\n  Could not find Foo\n",
        (("CMakeLists.txt", 12, None),),
        "config_error",
        "cmake",
    ),
    Rows(
        "flake8",
        "./a.py:33:11: F821 undefined name 'x'\n./a.py:34:1: E302 expected 2 blank lines\n",
        (("./a.py", 33, "F821"), ("./a.py", 34, "E302")),
        "lint",
        "flake8",
    ),
    Rows(
        "ruff, full",
        """\
F401 [*] `os` imported but unused
 --> a.py:1:8
  |
1 | import os
  |        ^^

Found 1 error.
""",
        (("a.py", 1, "F401"),),
        "lint",
        message="`os` imported but unused",
    ),
    Rows(
        "mypy",
        'a.py:3: error: Incompatible return value type (got "int", expected "str")  [return-value]\nFound 1 error in 1 file\n',
        (("a.py", 3, "return-value"),),
        "lint",
        "mypy",
    ),
    Rows(
        "pyright",
        '  /src/a.py:3:5 - error: "x" is not defined (reportUndefinedVariable)\n',
        (("/src/a.py", 3, None),),
        "lint",
    ),
    Rows(
        "pylint",
        "a.py:3:0: C0114: Missing module docstring (missing-module-docstring)\n",
        (("a.py", 3, "C0114"),),
        "lint",
        "pylint",
    ),
    Rows(
        "pydocstyle",
        "a.py:1 at module level:\n        D100: Missing docstring in public module\n",
        (("a.py", 1, "D100"),),
        "lint",
        "pydocstyle",
    ),
    Rows(
        "bandit",
        "/src/a.py:5: B105[bandit]: LOW: Possible hardcoded password\n",
        (("/src/a.py", 5, "B105"),),
        "lint",
        "bandit",
    ),
    Rows(
        "isort",
        "ERROR: /src/a.py Imports are incorrectly sorted and/or formatted.\n",
        (("/src/a.py", None, None),),
        "lint",
        "isort",
    ),
    Rows(
        "black", "would reformat a.py\nOh no!\n1 file would be reformatted.\n", (("a.py", None, None),), "lint", "black"
    ),
    Rows(
        "ruff format --diff",
        """\
--- a.py
+++ a.py
@@ -1,2 +1,2 @@
-x=1
+x = 1

1 file would be reformatted
""",
        (("a.py", None, None),),
        "lint",
        "ruff",
    ),
    Rows(
        "eslint, stylish",
        """\

/src/a.js
  2:10  error    'foo' is not defined       no-undef
  3:1   warning  Unexpected console         no-console

✖ 2 problems (1 error, 1 warning)
""",
        (("/src/a.js", 2, "no-undef"), ("/src/a.js", 3, "no-console")),
        "lint",
        "eslint",
        "'foo' is not defined",
    ),
    Rows(
        "eslint, unix and compact",
        """\
/src/a.js:2:10: 'foo' is not defined. [Error/no-undef]
/src/a.js: line 3, col 1, Warning - Unexpected console. (no-console)
""",
        (("/src/a.js", 2, "no-undef"), ("/src/a.js", 3, "no-console")),
        "lint",
        "eslint",
    ),
    Rows(
        "stylelint",
        "\nsrc/a.css\n  1:3  ✖  Unexpected unknown property  property-no-unknown\n",
        (("src/a.css", 1, "property-no-unknown"),),
        "lint",
        "stylelint",
    ),
    Rows(
        "xo",
        "\n  src/a.js:2:1\n  ✖   2:1   Unexpected var, use let or const  no-var\n\n  1 error\n",
        (("src/a.js", 2, "no-var"),),
        "lint",
    ),
    Rows(
        "standard",
        "standard: Use JavaScript Standard Style\n  /src/a.js:2:10: 'foo' is not defined. (no-undef)\n",
        (("/src/a.js", 2, "no-undef"),),
        "lint",
        "standardjs",
    ),
    Rows(
        "tslint",
        "ERROR: src/a.ts[12, 3]: Missing semicolon\nERROR: src/a.ts:14:3 - unused expression\n",
        (("src/a.ts", 12, None), ("src/a.ts", 14, None)),
        "lint",
        "tslint",
    ),
    Rows(
        "prettier",
        "Checking formatting...\n[warn] src/a.js\n[warn] Code style issues found in the above file.\n",
        (("src/a.js", None, None),),
        "lint",
        "prettier",
    ),
    Rows(
        "markdownlint, two versions",
        "a.md: 10: MD006/ul-start-left Consider starting lists\nb.md:12:3 MD009/no-trailing-spaces Trailing spaces\n",
        (("a.md", 10, "MD006/ul-start-left"), ("b.md", 12, "MD009/no-trailing-spaces")),
        "lint",
        "markdownlint",
    ),
    Rows(
        "remark-lint",
        "docs/README.md\n 25:3  warning Incorrect list-item indent list-item-indent remark-lint\n",
        (("docs/README.md", 25, "list-item-indent"),),
        "lint",
        "remark-lint",
    ),
    Rows(
        "golangci-lint",
        "cart.go:42:21: Error return value of `f` is not checked (errcheck)\n\tf()\n\t^\n",
        (("cart.go", 42, "errcheck"),),
        "lint",
        "golangci-lint",
    ),
    Rows(
        "golint says nothing about itself (K-9)",
        "cart.go:3:1: exported function Total should have comment or be unexported\n",
        (("cart.go", 3, None),),
        "lint",
    ),
    Rows("staticcheck", "cart.go:9:9: empty branch (SA9003)\n", (("cart.go", 9, "SA9003"),), "lint"),
    Rows(
        "gosec",
        "[/src/main.go:12] - G401: Use of weak cryptographic primitive (Confidence: HIGH, Severity: MEDIUM)\n",
        (("/src/main.go", 12, "G401"),),
        "lint",
        "gosec",
    ),
    Rows("misspell", 'README.md:3:5: "teh" is a misspelling of "the"\n', (("README.md", 3, None),), "lint", "misspell"),
    Rows(
        "typos",
        "error: `teh` should be `the`\n  --> ./README.md:3:5\n   |\n3  | teh\n",
        (("./README.md", 3, None),),
        "lint",
        "typos",
    ),
    Rows(
        "rubocop, clang and emacs",
        "lib/a.rb:158:17: C: Performance/RegexpMatch: Use match?\n/src/a.rb:9:1: W: [Correctable] Lint/Useless: no\n\n2 files inspected, 2 offenses detected\n",
        (("lib/a.rb", 158, "Performance/RegexpMatch"), ("/src/a.rb", 9, "Lint/Useless")),
        "lint",
        "rubocop",
    ),
    Rows(
        "reek",
        "lib/a.rb -- 2 warnings:\n  [12, 14]:DuplicateMethodCall: A#b calls 'c' 2 times\n  [20]:UtilityFunction: A#d doesn't depend on instance state\n",
        (("lib/a.rb", 12, "DuplicateMethodCall"), ("lib/a.rb", 20, "UtilityFunction")),
        "lint",
        "reek",
    ),
    Rows(
        "brakeman, tabs",
        "app/models/a.rb\t12\tSQL Injection\tPossible SQL injection\n",
        (("app/models/a.rb", 12, None),),
        "lint",
        "brakeman",
    ),
    Rows(
        "haml-lint and slim-lint",
        "app/a.haml:12 [W] LineLength: too long\napp/a.slim:9 [E] Zwsp: no\n",
        (("app/a.haml", 12, None), ("app/a.slim", 9, None)),
        "lint",
        "haml-lint",
    ),
    Rows(
        "phpstan, table",
        """\
 ------ -----------------------------------------
  Line   src/Cart.php
 ------ -----------------------------------------
  12     Call to an undefined method Cart::total().
  20     Access to an undefined property.
 ------ -----------------------------------------
""",
        (("src/Cart.php", 12, None), ("src/Cart.php", 20, None)),
        "lint",
        "phpstan",
    ),
    Rows(
        "psalm, two forms",
        "ERROR: UndefinedClass - src/Cart.php:12:5 - Class does not exist\nsrc/Cart.php:14:5:error - UndefinedMethod: no\n",
        (("src/Cart.php", 12, "UndefinedClass"), ("src/Cart.php", 14, None)),
        "lint",
        "psalm",
    ),
    Rows(
        "phpcs",
        "FILE: /src/Cart.php\n----------------------\nFOUND 1 ERROR AFFECTING 1 LINE\n----------------------\n 12 | ERROR | [x] Missing doc comment\n----------------------\n",
        (("/src/Cart.php", 12, None),),
        "lint",
        "phpcs",
    ),
    Rows(
        "yamllint, standard and parsable",
        "./a.yml\n  1:1       warning  missing document start  (document-start)\n  4:10      error    trailing spaces  (trailing-spaces)\n\nb.yml:3:1: [error] too many blank lines (empty-lines)\n",
        (("./a.yml", 1, "document-start"), ("./a.yml", 4, "trailing-spaces"), ("b.yml", 3, "empty-lines")),
        "lint",
        "yamllint",
    ),
    Rows(
        "ansible-lint",
        "playbook.yml:12: [E301] Commands should not change things\n",
        (("playbook.yml", 12, "E301"),),
        "lint",
    ),
    Rows(
        "puppet-lint, two forms",
        "manifests/init.pp - WARNING: double quoted string on line 12\nmanifests/init.pp:14:error:two-space soft tabs not used\n",
        (("manifests/init.pp", 12, None), ("manifests/init.pp", 14, None)),
        "lint",
        "puppet-lint",
    ),
    Rows(
        "protolint",
        "[api/cart.proto:12:3] Field name must be underscore\n",
        (("api/cart.proto", 12, None),),
        "lint",
        "protolint",
    ),
    Rows(
        "luacheck",
        "Checking cart.lua    1 warning\n\n    cart.lua:12:3: (W111) setting non-standard global variable x\n",
        (("cart.lua", 12, "W111"),),
        "lint",
    ),
    Rows(
        "hlint",
        "src/Calc.hs:11:18: Suggestion: Redundant bracket\nFound:\n  (a)\nPerhaps:\n  a\n\nsrc/Calc.hs:12:2-8: Error: Use map\n",
        (("src/Calc.hs", 11, None), ("src/Calc.hs", 12, None)),
        "lint",
        "hlint",
    ),
    Rows(
        "shellcheck",
        "In run.sh line 12:\necho $x\n     ^-- SC2086 (info): Double quote to prevent globbing.\n",
        (("run.sh", 12, "SC2086"),),
        "lint",
        "shellcheck",
    ),
    Rows(
        "hadolint",
        "Dockerfile:12 DL3006 warning: Always tag the version of an image explicitly\n",
        (("Dockerfile", 12, "DL3006"),),
        "lint",
        "hadolint",
    ),
    Rows(
        "scalastyle",
        "error file=/src/a.scala message=Magic Number line=6 column=7\n",
        (("/src/a.scala", 6, None),),
        "lint",
        "scalastyle",
    ),
    Rows(
        "checkstyle under Maven",
        """\
[ERROR] /src/main/java/Cart.java:24:8: Unused import - java.util.List. [UnusedImports]
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-checkstyle-plugin:3.1.0:check (validate) on project shop: You have 1 Checkstyle violation.
""",
        (("/src/main/java/Cart.java", 24, "UnusedImports"),),
        "lint",
        "maven-checkstyle",
    ),
    Rows(
        "cpplint",
        "src/a.cc:12:  Missing space before {  [whitespace/braces] [5]\n",
        (("src/a.cc", 12, "whitespace/braces"),),
        "lint",
        "cpplint",
    ),
    Rows("cppcheck", "[src/a.c:12]: (error) Memory leak: p\n", (("src/a.c", 12, None),), "lint", "cppcheck"),
    Rows("rustfmt", "Diff in /src/lib.rs at line 12:\n-a\n+ a\n", (("/src/lib.rs", 12, None),), "lint", "rustfmt"),
    Rows(
        "mix format",
        "** (Mix) mix format failed due to --check-formatted.\nThe following files are not formatted:\n\n  * lib/cart.ex\n  * test/cart_test.exs\n\n",
        (("lib/cart.ex", None, None), ("test/cart_test.exs", None, None)),
        "lint",
        "mix-format",
    ),
    Rows(
        "clippy by its command",
        """\
$ cargo clippy -- -D warnings
error: length comparison to zero
  --> src/main.rs:27:8
   |
   = help: for further information visit https://rust-lang.github.io/rust-clippy/master/index.html#len_zero
""",
        (("src/main.rs", 27, None),),
        "lint",
        "clippy",
        "length comparison to zero",
    ),
    Rows(
        "a Python traceback is no row",
        """\
Traceback (most recent call last):
  File "/src/a.py", line 3, in <module>
    import nope
ModuleNotFoundError: No module named 'nope'
tests/test_a.py:12: AssertionError
tests/test_a.py:14: in test_x
""",
        (),
        "unknown",
    ),
)
