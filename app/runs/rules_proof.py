"""What a proof does to a run (T26 to T34, T40, T41); no model has a word in it."""

from dataclasses import replace

from app.runs.entering import block, enter
from app.runs.facts import ProofDone, ProofFailed, Rules, RunEvent, Transition
from app.runs.model import BlockCause, ProofOutcome, Run, Stage
from app.runs.rules_commands import cancel
from app.runs.rules_turns import corrected


def done(run: Run, fact: ProofDone, rules: Rules) -> Transition:
    """The outcome of the deterministic proof; a failed one goes back to the agent without a supervisor turn (IV-13)."""
    event = RunEvent(f"proof.{fact.outcome.value}", {"proof": fact.item_id})
    if fact.whole:
        return _whole(run, fact, rules, event)
    match fact.outcome:
        case ProofOutcome.PASSED:
            return enter(replace(run, restarts=0), Stage.SUPERVISOR, rules, event)
        case ProofOutcome.FAILED if fact.repeated:
            return block(run, Stage.AGENT, BlockCause.NO_PROGRESS, fact.feedback, rules, event)
        case ProofOutcome.FAILED:
            return corrected(run, fact.feedback, "proof", rules, event)
        case ProofOutcome.NEEDS_HUMAN:
            return block(run, Stage.SUPERVISOR, BlockCause.NEEDS_APPROVAL, fact.feedback, rules, event)
        case ProofOutcome.FORBIDDEN:
            return block(run, Stage.AGENT, BlockCause.SECRET_FOUND, fact.feedback, rules, event)
        case ProofOutcome.NOT_RUN:
            return block(run, Stage.PROVE, BlockCause.PROOF_UNAVAILABLE, fact.feedback, rules, event)


def failed(run: Run, fact: ProofFailed, rules: Rules) -> Transition:
    """T33, T34: an interrupted proof starts again while restarts are left; another fault stops the run."""
    if fact.code == "interrupted" and run.restarts < rules.restarts:
        event = RunEvent("proof.restarted", {"restart": run.restarts + 1})
        return enter(replace(run, restarts=run.restarts + 1), Stage.PROVE, rules, event)
    return block(run, Stage.PROVE, BlockCause.PROOF_FAILED, f"{fact.code}: {fact.error}".rstrip(": "), rules)


def _whole(run: Run, fact: ProofDone, rules: Rules, event: RunEvent) -> Transition:
    match fact.outcome:
        case ProofOutcome.PASSED:
            return enter(replace(run, restarts=0), Stage.PUBLISH, rules, event)
        case ProofOutcome.NEEDS_HUMAN:
            return block(run, Stage.PUBLISH, BlockCause.NEEDS_APPROVAL, fact.feedback, rules, event)
        case ProofOutcome.FORBIDDEN:
            return block(run, Stage.PROVE, BlockCause.SECRET_FOUND, fact.feedback, rules, event)
        case _:
            return cancel(run, "superseded", event)
