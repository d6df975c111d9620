"""The readers of all frameworks: a new one is one file and one entry of this list."""

from app.failures.frameworks.acceptance import Robot, Scenarios
from app.failures.frameworks.apple import Apple
from app.failures.frameworks.bazel import Bazel
from app.failures.frameworks.beam import Beam
from app.failures.frameworks.browser_tests import TestCafe, WebdriverIo
from app.failures.frameworks.causes import Causes
from app.failures.frameworks.clojure import Clojure
from app.failures.frameworks.compiled_tests import Alcotest, Dart, Julia, Zig
from app.failures.frameworks.cpp.catch2 import Catch2
from app.failures.frameworks.cpp.ctest import CTest
from app.failures.frameworks.cpp.googletest import GoogleTest
from app.failures.frameworks.deno_bun import Bun, Deno
from app.failures.frameworks.detector import Detector
from app.failures.frameworks.dotnet import DotNet
from app.failures.frameworks.go import Go
from app.failures.frameworks.go.ginkgo import Ginkgo
from app.failures.frameworks.jasmine import Jasmine
from app.failures.frameworks.jest import Jest
from app.failures.frameworks.job import Job
from app.failures.frameworks.jvm.ant import Ant
from app.failures.frameworks.jvm.gradle import Gradle
from app.failures.frameworks.jvm.scala import Scala
from app.failures.frameworks.jvm.surefire import Surefire
from app.failures.frameworks.minitest import Minitest
from app.failures.frameworks.mocha import Mocha
from app.failures.frameworks.nodetest import NodeTest
from app.failures.frameworks.other_tests import Busted, TestThat
from app.failures.frameworks.phpunit import PhpUnit
from app.failures.frameworks.playwright import Playwright
from app.failures.frameworks.pytest import Pytest
from app.failures.frameworks.python_runners import Stestr, Trial
from app.failures.frameworks.rows import Rows
from app.failures.frameworks.rspec import Rspec
from app.failures.frameworks.rust import Rust
from app.failures.frameworks.shell_runners import Automake, GruntQunit, HUnit, ShellRunner
from app.failures.frameworks.tap import Tap
from app.failures.frameworks.trees import Hspec, Trees
from app.failures.frameworks.unittest import Unittest
from app.failures.frameworks.vim import VimTest
from app.failures.frameworks.vitest import Vitest
from app.failures.frameworks.wrapped import Wrapped

# `Job` comes first: the others ask it for the command that is running.
DETECTORS: tuple[type[Detector], ...] = (
    Job,
    Robot,
    Scenarios,
    Apple,
    Bazel,
    Beam,
    WebdriverIo,
    TestCafe,
    Causes,
    Clojure,
    Dart,
    Zig,
    Julia,
    Alcotest,
    Catch2,
    CTest,
    GoogleTest,
    Deno,
    Bun,
    DotNet,
    Go,
    Ginkgo,
    Jasmine,
    Jest,
    Ant,
    Gradle,
    Scala,
    Surefire,
    Minitest,
    Mocha,
    NodeTest,
    TestThat,
    Busted,
    PhpUnit,
    Playwright,
    Pytest,
    Trial,
    Stestr,
    Rows,
    Rspec,
    Rust,
    Automake,
    HUnit,
    GruntQunit,
    ShellRunner,
    Tap,
    Trees,
    Hspec,
    Unittest,
    VimTest,
    Vitest,
    Wrapped,
)
