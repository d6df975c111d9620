"""`remedy web`: the process that accepts deliveries and answers about them."""

from app.cli.environment import prepare_data_folder, read_settings
from app.telemetry import start_logging

ENDING_S = 5
# Past this many requests at once the answer is 503; GitHub's failed deliveries are fetched again by the sweep.
REQUESTS_AT_ONCE = 256


def web() -> None:
    """Accept deliveries from GitHub.

    POST /webhook, /healthz, /readyz and the status API.
    """
    settings = read_settings()
    start_logging(settings, "web")
    prepare_data_folder(settings)
    import uvicorn

    from app.main import create_app

    uvicorn.run(
        create_app(settings, adopted=lambda found: start_logging(found, "web")),
        host=settings.host,
        port=settings.port,
        http="httptools",
        access_log=False,
        log_config=None,
        server_header=False,
        limit_concurrency=REQUESTS_AT_ONCE,
        timeout_graceful_shutdown=ENDING_S,
    )
