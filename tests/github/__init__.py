"""The local GitHub: a real HTTP server on 127.0.0.1 that behaves as GitHub's own API description says (github.md, C).

REST validated both ways, App JWTs and scoped installation tokens, real git over HTTP, signed webhooks with a delivery
log, and a tiny Actions that really runs the workflow's steps. It is ours, so `tests/contracts/test_local_github.py`
holds it against its rules (D-1 to D-46).

In a test:

    with LocalGitHub(hook_url=...) as github:                 # leaving it verifies: no broken rule, no idle fault
        repo = github.create_repo("acme/shop", files={...})   # the app is installed on it
        github.collaborator(repo, "ann", "write")
        github.push("ann", repo, "feature", {"cart.py": "..."})
        pull = github.open_pull("ann", repo, "feature")
        github.run_ci()                                       # really runs .github/workflows/*.yml
        github.comment("ann", pull, "/remedy fix")
        github.click("ann", github.check(pull, "Remedy"), "resume")

`github.app` has what the app under test needs: `id`, `slug`, `pem`, `webhook_secret`. The origins are `github.api_url`,
`web_url` and `store_url`. `github.receive_with(function)` takes webhooks without a socket, `github.transport()` serves
the API without one. As a process: `python -m tests.github --help`; the same verbs are then `POST /_double/<verb>` with
the arguments by name as JSON (`Remote(url).push(user=..., ...)` in Python). A thread's name is `owner/name#7`, a
repository's `owner/name`, a check's its id. Every verb returns after its webhooks are delivered.

People and repositories
    user  create_repo  fork  collaborator  push  force_push  delete_branch  protect  rename  transfer  remove  settings
    user_token (git password)  actions_token (GITHUB_TOKEN)  branches  read_file
Threads
    open_pull  open_draft  set_draft  set_base  merge  update_branch  close  reopen  edit  open_issue  label
    comment  edit_comment  delete_comment  close_with_comment  review  review_comment  react  resend  queue_for_merge
Checks and CI
    run_ci(limit)  report_job (an Actions job that ends as told, with a given log)  report_branch_job  foreign_check
    click  rerequest  rerequest_all  rerun  cancel_ci  hold_log  expire_log  upload (an artifact)  annotate
    expire_artifacts  ci_needs_approval  approve_ci  queued_jobs
The app
    install  uninstall  suspend  unsuspend  grant  expire_tokens  set_hook  receive_with  clock  emit  redeliver
Faults (github.md C9)
    fault  outage  secondary  flaky  lost_answer  hook_fault  shuffle_hooks  lift  expect
Looking
    pull  thread  pulls  issues  comments  checks  check  our_checks  workflow_runs  job_log
    log (requests)  deliveries  violations  complaints  settle  snapshot  verify

`Options`: ghes, id_rule (False: a job's id differs from its check run's), auto_ci (jobs run by themselves),
job_seconds, artifact_days, seed, strict (False: leaving does not verify).
"""

from tests.github.local import MANIFEST, LocalGitHub
from tests.github.remote import Remote
from tests.github.verbs.ci import Report
from tests.github.world import Options

__all__ = ["MANIFEST", "LocalGitHub", "Options", "Remote", "Report"]
