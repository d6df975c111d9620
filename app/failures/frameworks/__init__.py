"""The readers of all frameworks: a new one is one file and one entry of this list."""

from app.failures.frameworks.detector import Detector
from app.failures.frameworks.pytest import Pytest

DETECTORS: tuple[type[Detector], ...] = (Pytest,)
