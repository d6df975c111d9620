"""`remedy migrate`: bring the database to the version of this program."""

from app.cli.environment import prepare_data_folder, read_settings
from app.cli.say import say
from app.errors import UserError
from app.redact import Redactor
from app.telemetry import known_secrets


def migrate() -> None:
    """Bring the database to this version."""
    settings = read_settings()
    prepare_data_folder(settings)
    from sqlalchemy.exc import ArgumentError, OperationalError

    from app.ledger.engine import migrate as migrate_ledger
    from app.ledger.engine import open_engine

    try:
        engine = open_engine(settings.database)
        migrate_ledger(engine)
    except ArgumentError:
        raise UserError("DATABASE_URL is no address of a database.") from None
    except (OperationalError, OSError) as error:
        told = Redactor(known_secrets(settings)).text(str(getattr(error, "orig", error)).strip())
        raise UserError(f"The database does not answer: {told}") from None
    engine.dispose()
    say("ok", "database", "ready")
