"""`tests:` of `.github/remedy.yml`: how a repository's own tests are run and read (proof.md, 5.3)."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Word = Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=r"^[^\x00]*$")]
Argv = Annotated[tuple[Word, ...], Field(strict=False, min_length=1, max_length=200)]
Patterns = Annotated[tuple[Annotated[str, StringConstraints(min_length=1, max_length=500)], ...], Field(strict=False)]


class TestCommand(BaseModel):
    """One way to run tests. Lists of arguments, never a shell line; read from the base branch only (PX-30)."""

    __test__ = False
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,60}$")]
    framework: Annotated[str, StringConstraints(pattern=r"^[a-z0-9:._-]{1,40}$")] = "generic"
    paths: Patterns = ()
    """Which failing ids use it; none: all of this framework."""
    setup: Annotated[tuple[Argv, ...], Field(strict=False, max_length=20)] = ()
    """Installs what the tests need into `{layer}`, once for each state of the manifests."""
    run: Argv | None = None
    run_named: Argv | None = None
    report: Literal["junit", "tap", "jest-json", "mocha-json", "go-json"] = "junit"
    """The form of the report; not used yet: it is told from the content."""
    id: Annotated[str, StringConstraints(min_length=1, max_length=200)] = "{classname}.{name}"
    """How an id is made of a report's row; not used yet: ids are compared part by part."""
    source: Patterns = ()
    test: Patterns = ()
    harness: Patterns = ()

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        if self.framework == "generic" and self.run is None:
            raise ValueError("`run` is needed for the framework generic")
        if self.run is not None and not _holds(self.run, "{report}"):
            raise ValueError("`run` must hold {report}, the place of its report")
        if self.run_named is not None and not (_holds(self.run_named, "{report}") and _holds(self.run_named, "{id}")):
            raise ValueError("`run_named` must hold {report} and {id}")
        return self


def _holds(argv: tuple[str, ...], sign: str) -> bool:
    return any(sign in word for word in argv)
