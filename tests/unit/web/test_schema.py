"""The schema of the policy file is given away where the texts link to."""

from app.policy.schema import policy_schema
from app.render.links import Links

from .conftest import Sender


def test_the_schema_is_where_the_texts_say(github: Sender) -> None:
    link = str(Links("https://github.com", "https://remedy.example", "acme/billing").schema())
    answer = github.client.get(link.partition("https://remedy.example")[2].rstrip(")"))
    assert answer.status_code == 200 and answer.json() == policy_schema()
    assert answer.headers["access-control-allow-origin"] == "*"
