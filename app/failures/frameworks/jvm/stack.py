"""Places in JVM stack traces, which name files without folders."""

import re
from collections.abc import Iterable

from app.failures.frameworks.detector import Found
from app.failures.places import Place

_FRAME = re.compile(
    r"\s*(?:\[\w+\]\s+)?(?:at )?(?:[\w.@-]{1,80}/+)?([\w.$<>\u0080-\uffff-][\w.$<>\u0080-\uffff -]{0,399})\(([\w$.+-"
    r"]{1,200}\.\w{1,10}):(\d+)\)"
)
_LIBRARY = re.compile(
    r"(?:java|javax|jdk|sun|com\.sun\.(?:proxy|tools|management|javafx)|kotlin|kotlinx|scala"
    r"|groovy|org\.(?:junit|testng|hamcrest|assertj|mockito"
    r"|gradle|apache\.maven"
    r"|codehaus\.groovy|opentest4j|scalatest|spockframework|springframework\.test)|junit|com\.google\.common\.truth)\."
)
_CAUSE = re.compile(r"\s*(?:\[\w+\]\s+)?Caused by: ")


def frames(lines: Iterable[str], *, first_only: bool = True) -> list[Place]:
    """Frames of a trace, top first; those of causes only with `first_only=False`."""
    places: list[Place] = []
    for text in lines:
        if first_only and places and _CAUSE.match(text):
            break
        frame = _FRAME.match(text)
        if frame:
            places.append(Place(frame[2], int(frame[3][:9]), frame[1]))
    return places


def place_in(lines: list[str], test_class: str) -> Place | None:
    """The deepest frame of the test class's own file, else the deepest that is no library's."""
    simple = re.split(r"[.$]", test_class)[-1] if test_class else ""
    outer = test_class.split("$", 1)[0].rsplit(".", 1)[-1]
    for only_first in (True, False):
        places = frames(lines, first_only=only_first)
        for name in filter(None, (outer, simple)):
            own = next((place for place in places if place.file.rsplit(".", 1)[0] == name), None)
            if own:
                return own
    places = frames(lines)
    return next((place for place in places if not _LIBRARY.match(place.function)), None)


def put_place(found: Found, lines: list[str], test_class: str) -> None:
    place = place_in(lines, test_class)
    if place:
        found.file, found.line = place.file, place.line
