"""How often a flaky test has to pass before it is believed (proof.md, PN-4, PN-5)."""

import math

ERROR = 0.05
QUANTILE = 0.05
UNKNOWN = 3
CAP = 20


def failure_rate(fails: int, runs: int) -> float:
    """Lower bound of the failure rate of one run: 5 % quantile of Beta(k + 1/2, n - k + 1/2) (Jeffreys)."""
    if fails <= 0:
        return 0.0
    return _quantile(fails + 0.5, runs - fails + 0.5)


def runs_needed(fails: int, runs: int) -> int:
    """n = ceil(ln 0.05 / ln(1 - p)), at least 1; 3 if p is not known. It may be above the cap (PN-5)."""
    p = failure_rate(fails, runs)
    if p <= 0:
        return UNKNOWN
    if p >= 1:
        return 1
    return max(1, math.ceil(math.log(ERROR) / math.log(1 - p)))


def excluded_rate(runs: int) -> float:
    """The smallest failure rate that so many passes rule out at 95 %."""
    return float(1 - ERROR ** (1 / runs)) if runs else 1.0


def _quantile(a: float, b: float) -> float:
    """By halving, on the incomplete beta function; 60 steps are far below what a count can tell."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _incomplete_beta(middle, a, b) < QUANTILE:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """Regularised, by the trapezoid rule in t = sin^2(u), where the integrand has no pole for a and b of 1/2."""
    steps = 400
    edge = math.asin(math.sqrt(x))

    def part(limit: float) -> float:
        width = limit / steps
        values = [_integrand(n * width, a, b) for n in range(steps + 1)]
        return width * (sum(values) - (values[0] + values[-1]) / 2)

    return part(edge) / part(math.pi / 2)


def _integrand(u: float, a: float, b: float) -> float:
    return float(2 * math.sin(u) ** (2 * a - 1) * max(0.0, math.cos(u)) ** (2 * b - 1))
