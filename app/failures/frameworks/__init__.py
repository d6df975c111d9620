"""The readers of all frameworks: a new one is one file and one entry of this list."""

from app.failures.frameworks.detector import Detector
from app.failures.frameworks.go import Go
from app.failures.frameworks.jasmine import Jasmine
from app.failures.frameworks.jest import Jest
from app.failures.frameworks.mocha import Mocha
from app.failures.frameworks.nodetest import NodeTest
from app.failures.frameworks.playwright import Playwright
from app.failures.frameworks.pytest import Pytest
from app.failures.frameworks.unittest import Unittest
from app.failures.frameworks.vitest import Vitest

DETECTORS: tuple[type[Detector], ...] = (
    Go,
    Jasmine,
    Jest,
    Mocha,
    NodeTest,
    Playwright,
    Pytest,
    Unittest,
    Vitest,
)
