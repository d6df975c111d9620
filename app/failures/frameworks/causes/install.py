"""A dependency that cannot be found or resolved, by package manager."""

from app.failures.frameworks.causes.cause import Cause, cause

CAUSES: tuple[Cause, ...] = (
    cause(
        "dependency_install",
        "pip-install",
        (
            "No matching distribution found",
            "ResolutionImpossible",
            "conflicting dependencies",
            "Failed building wheel for",
            "subprocess-exited-with-error",
            "Could not find a version that satisfies",
        ),
        r"(?:ERROR: |\s*ERROR: |error: |× )?(?:No matching distribution found for"
        r"|Could not find a version that satisfies the requirement"
        r"|ResolutionImpossible|Cannot install .* because these package versions have conflicting "
        r"dependencies|Failed building wheel for|subprocess-exited-with-error)",
    ),
    cause(
        "dependency_install",
        "pip-install",
        (
            "version solving failed",
            "No solution found when resolving",
            "PackagesNotFoundError",
            "UnsatisfiableError",
            "LibMambaUnsatisfiableError",
            "ResolvePackageNotFound",
            "SolverProblemError",
        ),
        r".{0,60}(?:version solving failed|No solution found when resolving"
        r"|PackagesNotFoundError|UnsatisfiableError|ResolvePackageNotFound"
        r"|SolverProblemError)",
    ),
    cause(
        "dependency_install",
        "npm-install",
        (
            "npm ERR! code E",
            "npm error code E",
            "ERESOLVE",
            "ERR_PNPM_",
            "Couldn't find any versions for",
            "Couldn't find package",
            "npm \x1b",
        ),
        r"npm (?:ERR!|error) code (?:E404|E401|E403|ERESOLVE|ETARGET"
        r"|EINTEGRITY|EUSAGE|ENOVERSIONS|EBADENGINE|EBADPLATFORM"
        r"|EPEERINVALID|ENOTSUP|EJSONPARSE)|.{0,10}ERR_PNPM_(?!RECURSIVE"
        r"|RUN)|error Couldn't find (?:any versions for|package)"
        r"|error .*The engine \"\w+\" is incompatible",
    ),
    cause(
        "dependency_install",
        "npm-install",
        ("npm ERR! 404", "npm error 404", "lock file's", "can only install packages when your package.json"),
        r"npm (?:ERR!|error) (?:404 +(?:Not Found|'.*' is not)|`npm ci` can only install packages|.*lock file's)",
    ),
    cause(
        "dependency_install",
        "maven-deps",
        (
            "Could not resolve dependencies for project",
            "Could not find artifact",
            "Non-resolvable parent POM",
            "Could not resolve all",
            "Could not resolve com.",
            "could not be resolved from the project repositories",
        ),
        r"(?:\[ERROR\] .*(?:Could not resolve dependencies for project"
        r"|Could not find artifact|Non-resolvable (?:parent|import) POM)"
        r"|\s*(?:> )?Could not resolve all (?:files|dependencies"
        r"|artifacts|task dependencies) for|.*\(or one of its dependencies\) could not be resolved"
        r")",
    ),
    cause(
        "dependency_install",
        "bundler",
        (
            "Could not find gem",
            "Bundler could not find compatible versions",
            "An error occurred while installing",
            "Could not find compatible versions",
            "could not be installed to an installable",
            "installable set of packages",
        ),
        r"(?:Could not find gem|Bundler could not find compatible versions"
        r"|An error occurred while installing \S+|.*Your requirements could not be resolved to an "
        r"installable set of packages|.*Could not find compatible versions)",
    ),
    cause(
        "dependency_install",
        "go-mod",
        (
            "no required module provides package",
            "unknown revision",
            "cannot find module providing package",
            "missing go.sum entry",
            "reading https://proxy",
        ),
        r".{0,300}(?:no required module provides package|unknown revision"
        r"|cannot find module providing package|missing go\.sum entry)",
    ),
    cause(
        "dependency_install",
        "cargo-build",
        ("failed to select a version for", "no matching package named", "failed to get `", "failed to download from"),
        r"error: (?:failed to select a version for|no matching package named|failed to get `)",
    ),
    cause(
        "dependency_install",
        "apt",
        (
            "Unable to locate package",
            "has no installation candidate",
            "unmet dependencies",
            "Unable to correct problems",
            "Unable to find a match",
            "No available formula",
            "unable to select packages",
        ),
        r"(?:E: (?:Unable to locate package|Package '.*' has no installation candidate"
        r"|Unable to correct problems|Unmet dependencies)|Error: Unable to find a match"
        r"|Error: No available formula|ERROR: unable to select packages|.*The following packages h"
        r"ave unmet dependencies)",
    ),
    cause(
        "dependency_install",
        "nuget-restore",
        ("error NU1", "Unable to find package", "Failed to restore"),
        r".*(?:error NU1\d{3}|Unable to find package '?\S+)",
    ),
    cause(
        "dependency_install",
        "sbt",
        (
            "sbt.ResolveException",
            "ResolutionException",
            "unresolved dependency",
            "sbt.librarymanagement.ResolveException",
            "Error downloading",
        ),
        r"\[error\].*(?:ResolveException|ResolutionException|unresolved dependency|Error downloading)",
    ),
    cause(
        "dependency_install",
        "lein-deps",
        ("Could not find artifact", "This could be due to a typo in :dependencies"),
        r"(?:Could not find artifact \S+ in|This could be due to a typo in :dependencies)",
    ),
    cause(
        "dependency_install",
        "hex",
        ("Hex dependency resolution failed", "Unchecked dependencies for environment", "Failed to fetch record for"),
        r".*(?:Hex dependency resolution failed|Unchecked dependencies for environment"
        r"|Failed to fetch record for)",
    ),
)
