"""The table of the doctor: group, name, check."""

from collections.abc import Mapping

from app.doctor import github, runners, server
from app.doctor.model import Check

CHECKS: Mapping[str, Mapping[str, Check]] = {
    "GitHub": {
        "App key": github.app_key,
        "Clock": github.clock,
        "Permissions": github.permissions,
        "Events": github.events,
        "Webhook secret": github.webhook_secret,
        "Webhook": github.webhook,
        "Last delivery": github.last_delivery,
        "Deliveries": server.deliveries,
    },
    "Server": {
        "Settings": server.names,
        "Database": server.database,
        "Redis": server.redis,
        "Workers": server.workers,
        "Queue": server.queue,
        "Outbox": server.outbox,
        "Disk": server.disk,
        "API tokens": server.api_tokens,
    },
    "Runners": {
        "Sandbox": runners.sandbox,
        "Test tools": runners.test_tools,
        "Proof": runners.proof,
        "Agent": runners.agent,
        "Supervisor": runners.supervisor,
    },
}
