"""What people, GitHub and a test do to the local GitHub: each verb changes the state and sends the signed events."""

from tests.github.verbs.ci import CiVerbs
from tests.github.verbs.faulty import FaultVerbs
from tests.github.verbs.installations import InstallationVerbs
from tests.github.verbs.looking import LookingVerbs
from tests.github.verbs.repositories import RepositoryVerbs
from tests.github.verbs.threads import ThreadVerbs

__all__ = ["CiVerbs", "FaultVerbs", "InstallationVerbs", "LookingVerbs", "RepositoryVerbs", "ThreadVerbs"]
