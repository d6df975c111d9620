"""Faults and their presets, and the rules that a test breaks on purpose."""

from typing import Any

from tests.github.faults import Fault
from tests.github.verbs.verb import Verbs, verb


class FaultVerbs(Verbs):
    """A fault that met nothing fails the test (D-34)."""

    @verb
    def fault(self, **what: Any) -> Fault:
        """Order a fault; the fields of `tests.github.faults.Fault` by name."""
        return self.world.faults.add(Fault(**what))

    @verb
    def outage(self, times: int | None = None, status: int = 502) -> Fault:
        """Every API request answers 5xx, `times` of them or until `lift`."""
        return self.world.faults.add(Fault(status=status, times=times, name="outage"))

    @verb
    def secondary(self, retry_after_s: int | None = 60, times: int = 1, op: str = "") -> Fault:
        """A secondary rate limit; None for `retry_after_s` gives the answer that only its body tells."""
        limit = "bare" if retry_after_s is None else "secondary"
        return self.world.faults.add(Fault(limit=limit, times=times, op=op, name="secondary"))

    @verb
    def flaky(self, p: float = 0.1, seed: int = 0) -> Fault:
        """A part of all API requests answers 502, by a seeded source of its own."""
        return self.world.faults.add(Fault(status=502, times=None, p=p, seed=seed, optional=True, name="flaky"))

    @verb
    def lost_answer(self, op: str, times: int = 1) -> Fault:
        """The operation runs, then the connection is cut: the case that makes duplicates (D-35)."""
        return self.world.faults.add(Fault(op=op, drop=True, after_effect=True, times=times, name=f"lost {op}"))

    @verb
    def hook_fault(self, mode: str, event: str = "", times: int | None = 1, by: int = 1) -> Fault:
        """`miss`, `duplicate`, `delay` (until `by` others have passed it, or `settle`), `throttle`, `bad_signature`."""
        return self.world.faults.add(Fault(where="hook", hook=mode, event=event, times=times, by=by))

    @verb
    def shuffle_hooks(self, seed: int) -> Fault:
        """The events of each transaction leave in another order, the same for the same seed."""
        return self.world.faults.add(Fault(where="hook", hook="shuffle", seed=seed, times=None, optional=True))

    @verb
    def lift(self, fault: Fault | None = None) -> None:
        """End one fault, or all."""
        if fault is None:
            self.world.faults.clear()
        else:
            self.world.faults.lift(fault)

    @verb
    def expect(self, operation: str, field: str) -> None:
        """The test will break this rule on purpose; not breaking it fails the test (D-16)."""
        self.world.record.expect(operation, field)
