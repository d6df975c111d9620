"""`remedy migrate`: bring the database to the version of this program."""

from app.cli.environment import prepare_data_folder, read_settings
from app.cli.say import say


def migrate() -> None:
    """Bring the database to this version."""
    settings = read_settings()
    prepare_data_folder(settings)
    from app.ledger.engine import migrate as migrate_ledger
    from app.ledger.engine import open_engine

    engine = open_engine(settings.database)
    migrate_ledger(engine)
    engine.dispose()
    say("ok", "database", "ready")
