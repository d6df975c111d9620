"""Nothing links to a page that this server does not have."""

from dataclasses import replace

from app.render.check import render_check
from app.render.comment import render_comment
from app.render.publish import render_pull
from tests.unit.render.views import STATES


def test_without_pages_no_text_links_to_our_own_server() -> None:
    for name, (_, view) in STATES.items():
        bare = replace(view, pages=False, public_url="https://remedy.nowhere.example")
        comment, check = render_comment(bare), render_check(bare)

        for text in (comment, check.summary, check.text):
            links = text.replace("](https://remedy.nowhere.example/remedy.schema.json)", "")
            assert "](https://remedy.nowhere.example" not in links, name


def test_a_pull_request_claims_nothing_about_tests_before_a_gate_looked_at_them() -> None:
    view = next(view for _, view in STATES.values() if view.publication and view.proof)
    proof = view.proof
    assert proof is not None
    unseen, seen = (replace(view, proof=replace(proof, gate=gate)) for gate in (False, True))

    assert "no test removed" not in render_pull(unseen)[1]
    assert "no test removed" in render_pull(seen)[1]
