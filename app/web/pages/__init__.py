"""The pages that people look at, each with its JSON for scripts beside it (ux.md, section 11)."""

from starlette.routing import Route

from app.web.frame import static_file
from app.web.pages import live, run, runs, say, setup, signin, tables

PAGES = (
    Route("/", runs.runs),
    Route("/runs.json", runs.runs),
    Route("/runs/{run_id}.json", run.run),
    Route("/runs/{run_id}/events", live.events),
    Route("/runs/{run_id}/say", say.say, methods=["POST"]),
    Route("/runs/{run_id}/fix.patch", run.patch),
    Route("/runs/{run_id}/rounds/{n:int}.patch", run.patch),
    Route("/runs/{run_id}/evidence/{evidence_id}", run.kept),
    Route("/runs/{run_id}", run.run),
    Route("/flaky", tables.flaky),
    Route("/flaky.json", tables.flaky),
    Route("/runners", tables.runners),
    Route("/runners.json", tables.runners),
    Route("/doctor", tables.doctor),
    Route("/doctor.json", tables.doctor),
    Route("/doctor", tables.look_again, methods=["POST"]),
    Route("/help", tables.commands_help),
    Route("/help.json", tables.commands_help),
    Route("/signin", signin.show),
    Route("/signin", signin.begin, methods=["POST"]),
    Route("/signin/callback", signin.callback),
    Route("/setup", setup.show),
    Route("/setup", setup.begin, methods=["POST"]),
    Route("/setup/callback", setup.callback),
    Route("/setup/installed", setup.installed),
    Route("/setup/ping", setup.ping, methods=["POST"]),
    Route("/setup/onboard", setup.onboard, methods=["POST"]),
    Route("/signout", signin.leave, methods=["POST"]),
    Route("/static/{name}", static_file),
)
