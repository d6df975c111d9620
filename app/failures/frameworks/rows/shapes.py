"""The row shapes of compilers and linters: one table line for each spelling (section 5, row shapes)."""

import re
from dataclasses import dataclass

_PATH = r"(?P<file>(?:[A-Za-z]:[\\/])?[^\s:()\[\]'\"<>|*?,;=&$]{1,300}?)"
_FILE = r"(?P<file>(?:[A-Za-z]:[\\/])?[^\s:()\[\]'\"<>|*?,;=&$]{1,300}?\.[A-Za-z+]{1,10}|(?:\S{1,200}/)?(?:Dockerfile|Makefile|Rakefile|Gemfile|Jenkinsfile|Vagrantfile))"
_SEVERITY = r"(?P<severity>(?:fatal |internal compiler )?[Ee]rror|ERROR|[Ww]arning|WARNING|WARN|[Nn]ote|[Ii]nfo|INFO|[Ss]tyle|[Hh]int|[Ss]uggestion|[Cc]onvention|[Rr]efactor|performance|portability|information)"


@dataclass(frozen=True)
class Shape:
    """`needs` is a literal that must stand in the line; `tool` names the tool when the shape is one tool's own.

    `sure` shapes carry a sign of their tool or a severity; the others count only when nothing else explains the job.
    """

    name: str
    needs: str
    pattern: re.Pattern[str]
    tool: str = ""
    sure: bool = True
    severity: str = "error"

    @property
    def file_first(self) -> bool:
        """Does the row begin with the file and a number?"""
        if self.name in ("msvc link", "brakeman"):
            return False
        return self.pattern.pattern.lstrip("\\s0123456789,{}").startswith(
            ("(?P<file>", "(?:\\s*|=+)")
        ) or self.name in ("msbuild", "coded")


def _shape(name: str, needs: str, pattern: str, *, tool: str = "", sure: bool = True, severity: str = "error") -> Shape:
    return Shape(name, needs, re.compile(pattern), tool, sure, severity)


SHAPES: tuple[Shape, ...] = (
    _shape("tsc pretty", " - ", rf"\s*{_FILE}:(?P<line>\d+):(?P<column>\d+) - {_SEVERITY} ?(?P<code>[A-Z]+\d+)?: ?(?P<message>.*)"),
    _shape("msbuild", "): ", rf"[\s=]{{0,120}}(?:\d+>)?{_FILE}\((?P<line>\d+)(?:,(?P<column>\d+))?(?:,\d+,\d+)?\) ?: {_SEVERITY} ?(?P<code>[A-Z][A-Za-z]*\d*)?: ?(?P<message>.*?)(?: \[.*proj\])?$"),
    _shape("bandit", "[bandit]", rf"{_FILE}:(?P<line>\d+): (?P<code>B\d+)\[bandit\]: (?P<message>.*)", tool="bandit"),
    _shape("rubocop", ": ", rf"{_FILE}:(?P<line>\d+):(?P<column>\d+): (?P<severity>[CWEFRIA]): (?:\[Correctable\] )?(?:(?P<code>[A-Z]\w+(?:/\w+)+): )?(?P<message>.*)", tool="rubocop"),
    _shape("gcc", ": ", rf"{_FILE}:(?P<line>\d+)(?::(?P<column>\d+))?(?:-\d+(?::\d+)?)?:? {{1,2}}{_SEVERITY}(?::|(?= \[)) *(?:\[(?P<code>[A-Z]+-?\d+)\]:?)? ?(?P<message>.*)"),
    _shape("coded", ":", rf"\s{{0,4}}{_FILE}:(?P<line>\d+):(?:(?P<column>\d+):?)? \[?(?P<code>[A-Z]{{1,6}}-?\d{{2,6}}|\([A-Z]\d+\))\]?:?(?: \[\*\])? (?P<message>.*)"),
    _shape("markdownlint", "MD", rf"{_FILE}: ?(?P<line>\d+)(?::(?P<column>\d+))?:? (?P<code>MD\d{{3}}(?:/[\w-]+)*) (?P<message>.*)", tool="markdownlint"),
    _shape("maven", ":[", r"\[(?P<severity>ERROR|WARN|WARNING)\] (?P<file>\S.*?\.\w+):\[(?P<line>\d+),?(?P<column>\d+)?\] (?P<message>.*)"),
    _shape("checkstyle", "] /", r"\[(?P<severity>ERROR|WARN|WARNING)\] (?P<file>(?:[A-Za-z]:)?[^\s:\[]+\.\w+):(?P<line>\d+)(?::(?P<column>\d+))?: (?P<message>.*?)(?: \[(?P<code>\w+)\])?$", tool="maven-checkstyle"),
    _shape("checkstyle", "[ERROR] ", r"(?:\[ant:checkstyle\] |\[checkstyle\] )?\[(?P<severity>ERROR)\] (?P<file>[^\s:\[]+\.\w+):(?P<line>\d+)(?::(?P<column>\d+))?: (?P<message>.*?)(?: \[(?P<code>\w+)\])?$"),
    _shape("sbt", "[error] ", r"\[(?P<severity>error|warn)\] (?:-- (?:\[(?P<code>E\d+)\] )?[\w ]+: )?(?P<file>(?:[A-Za-z]:)?[^\s:\[]+\.(?:scala|java|sc|sbt)):(?P<line>\d+):(?:(?P<column>\d+)(?::)?)? ?(?P<message>.*)", tool="scalac"),
    _shape("kotlin", ": ", r"(?P<severity>[ew]): (?:file://)?(?P<file>\S.*?\.kts?):? ?\(?(?P<line>\d+)(?:, |:)(?P<column>\d+)\)?:? (?P<message>.*)", tool="kotlinc"),
    _shape("xcpretty", "❌", rf"\s*❌ +{_FILE}:(?P<line>\d+):(?P<column>\d+): (?P<message>.*)", tool="swiftc"),
    _shape("eslint compact", ": line ", rf"{_PATH}: line (?P<line>\d+), col (?P<column>\d+), (?:{_SEVERITY} - )?(?P<message>.*?)(?: \((?P<code>[\w@/-]+)\))?$", tool="eslint-compact"),
    _shape("eslint unix", " [", rf"{_PATH}:(?P<line>\d+):(?P<column>\d+): (?P<message>.*) \[{_SEVERITY}/(?P<code>[\w@/-]+)\]$", tool="eslint"),
    _shape("scalastyle", " file=", r"(?:\[\w+\] )?(?P<severity>error|warning) file=(?P<file>\S+) message=(?P<message>.*?)(?: line=(?P<line>\d+))?(?: column=(?P<column>\d+))?$", tool="scalastyle"),
    _shape("vet", "vet: ", rf"vet: {_FILE}:(?P<line>\d+):(?P<column>\d+): (?P<message>.*)", tool="go-vet"),
    _shape("go mod", ".go:", rf"{_FILE}:(?P<line>\d+)(?::(?P<column>\d+))?: (?P<message>(?:undefined: |undeclared name: |cannot use |imported and not used|\S+ redeclared|.* declared (?:and|but) not used|missing return|too many arguments|not enough arguments|cannot find package|no required module|package \S+ is not in|syntax error|invalid operation|cannot find module|could not import|undefined \(type).*)", tool="go-build"),
    _shape("elixir", "Error) ", rf"\*\* \((?P<code>(?:Compile|Syntax|Token|TokenMissing|Mismatched\w*)Error)\) (?:\(.*?\) )?{_FILE}:(?P<line>\d+)(?::(?P<column>\d+))?: (?P<message>.*)", tool="elixirc"),
    _shape("erlang", "rl:", r"(?P<file>\S+\.[eh]rl):(?P<line>\d+)(?::(?P<column>\d+))?: (?P<message>(?!Warning).*)", tool="erlc"),
    _shape("ld", "undefined reference to", r"(?:\S*ld(?:\.\w+)?: )?(?:\S+\.o:)?(?P<file>[^\s:(]+\.\w+):(?:(?P<line>\d+)|\(\.\S+\)): (?P<message>undefined reference to .*)", tool="ld"),
    _shape("ld", "undefined reference to", r"(?:\S*ld(?:\.\w+)?: )?(?P<file>[^\s:(]+\.(?:o|a|so))[:(].*?(?P<message>undefined reference to .*)", tool="ld"),
    _shape("ld mac", "multiple definition of", r"(?:\S*ld(?:\.\w+)?: )?(?P<file>[^\s:(]+\.\w+):.*?(?P<message>multiple definition of .*)", tool="ld"),
    _shape("black", "would reformat ", r"(?P<message>would reformat (?P<file>\S.*))$", tool="black"),
    _shape("ruff format", "Would reformat: ", r"(?P<message>Would reformat: (?P<file>\S.*))$", tool="ruff"),
    _shape("prettier", "[warn] ", r"\[warn\] (?P<file>\S+\.\w{1,8})(?P<message>)$", tool="prettier"),
    _shape("prettier", "[error] ", r"\[error\] (?P<file>\S+\.\w{1,8}): (?P<message>\w*Error: .*?)(?: \((?P<line>\d+):(?P<column>\d+)\))?$", tool="prettier"),
    _shape("rustfmt", "Diff in ", r"(?P<message>Diff in (?P<file>\S+?)(?: at line |:)(?P<line>\d+):?)$", tool="rustfmt"),
    _shape("isort", "ERROR: ", r"ERROR: (?P<file>\S+\.pyi?) (?P<message>Imports are incorrectly sorted.*)", tool="isort"),
    _shape("golangci", " (", rf"{_FILE}:(?P<line>\d+)(?::(?P<column>\d+))?: (?P<message>.*) \((?P<code>[a-z][a-z0-9]+|SA\d+|S\d+|ST\d+|QF\d+|U\d+|[a-z][\w-]+:[\w-]+)\)$", tool="golangci-lint"),
    _shape("gosec", " - ", r"\[(?P<file>\S+?):(?P<line>\d+)(?:-\d+)?\] - (?:(?P<code>G\d+):? )?(?P<message>.*)", tool="gosec"),
    _shape("cppcheck", "]: (", r"\[(?P<file>\S+?):(?P<line>\d+)\](?: -> .*?)?: \((?P<severity>\w+)\) (?P<message>.*)", tool="cppcheck"),
    _shape("protolint", "] ", r"\[(?P<file>\S+?\.proto):(?P<line>\d+):(?P<column>\d+)\] (?P<message>.*)", tool="protolint"),
    _shape("haml-lint", "] ", rf"{_FILE}:(?P<line>\d+)(?::\d+)? \[(?P<severity>[WEF])\] (?P<message>.*)", tool="haml-lint"),
    _shape("misspell", "misspelling of", rf"{_FILE}:(?P<line>\d+):(?P<column>\d+): (?P<message>\"\S+\" is a misspelling of .*)", tool="misspell"),
    _shape("puppet-lint", " on line ", r"(?:(?P<file>\S+\.pp) - )?(?P<severity>WARNING|ERROR): (?P<message>.*) on line (?P<line>\d+)(?: col(?:umn)? (?P<column>\d+))?(?: \((?P<code>\w+)\))?$", tool="puppet-lint"),
    _shape("tslint", "]: ", rf"(?P<severity>ERROR|WARNING): (?:\((?P<code>[\w-]+)\) )?{_FILE}\[(?P<line>\d+), (?P<column>\d+)\]: (?P<message>.*)", tool="tslint"),
    _shape("tslint", " - ", rf"(?P<severity>ERROR|WARNING): {_FILE}:(?P<line>\d+):(?P<column>\d+) - (?P<message>.*)", tool="tslint"),
    _shape("psalm", " - ", rf"(?P<severity>ERROR|INFO): (?P<code>\w+) - {_FILE}:(?P<line>\d+):(?P<column>\d+) - (?P<message>.*)", tool="psalm"),
    _shape("yamllint", "] ", rf"{_FILE}:(?P<line>\d+):(?P<column>\d+): \[(?P<severity>error|warning)\] (?P<message>.*?)(?: \((?P<code>[\w-]+)\))?$", tool="yamllint"),
    _shape("ansible-lint", ": ", r"(?P<file>\S+\.ya?ml):(?P<line>\d+)(?::(?P<column>\d+))?: (?:\[(?P<code>E\d+)\] )?(?P<message>\S.*)", tool="ansible-lint"),
    _shape("ktlint", ".kt", r"(?P<file>\S+\.kts?):(?P<line>\d+):(?P<column>\d+): (?P<message>.*?)(?: \((?P<code>[\w:-]+)\)| \[(?P<code2>\w+)\])?$", tool="ktlint"),
    _shape("standard", ": ", r"  (?P<file>/?\S+\.[cm]?[jt]sx?):(?P<line>\d+):(?P<column>\d+): (?P<message>.*?)(?: \((?P<code>[\w@/-]+)\))?$", tool="standardjs"),
    _shape("luacheck", ".lua:", r"\s*(?P<file>\S+\.lua):(?P<line>\d+):(?P<column>\d+)(?:-\d+)?: (?:\((?P<code>[WE]\d+)\) )?(?P<message>.*)", tool="luacheck"),
    _shape("tsd", "✖", r"(?P<message>)(?P<file>)\s+✖ +(?P<line>\d+):(?P<column>\d+) +.*", tool="tsd"),
    _shape("rustc before 1.12", " error: ", r"(?P<file>\S+\.rs):(?P<line>\d+):(?P<column>\d+): \d+:\d+ (?P<severity>error|warning): (?P<message>.*)", tool="rustc"),
    _shape("hadolint", ":", rf"{_FILE}:(?P<line>\d+) (?P<code>(?:DL|SC)\d+) (?:{_SEVERITY}: )?(?P<message>.*)", tool="hadolint"),
    _shape("psalm text", " - ", rf"{_FILE}:(?P<line>\d+):(?P<column>\d+):(?P<severity>error|warning|info) - (?P<message>.*)", tool="psalm"),
    _shape("puppet-lint", ".pp:", r"(?P<file>\S+\.pp):(?P<line>\d+):(?P<severity>error|warning):(?P<message>.*)", tool="puppet-lint"),
    _shape("php", " on line ", r"(?:PHP )?(?:Parse|Fatal) error: +(?P<message>.*) in (?P<file>\S+\.(?:php|inc|phtml)) on line (?P<line>\d+)$", tool="php"),
    _shape("cmake", "CMake ", r"CMake (?P<severity>Error|Warning)(?: \(dev\))? at (?P<file>\S+?):(?P<line>\d+)(?P<message>.*)", tool="cmake"),
    _shape("dart", " • ", r"\s*(?P<severity>error|warning|info) • (?P<message>.*) • (?P<file>\S+\.dart):(?P<line>\d+):(?P<column>\d+) • (?P<code>\w+)", tool="dart"),
    _shape("msvc link", " LNK", r"(?P<file>\S+\.(?:obj|lib|exe|dll))(?:\(\S+\))? : (?:fatal )?(?P<severity>error) (?P<code>LNK\d+): (?P<message>.*)", tool="ld"),
    _shape("ocaml", "characters ", r"File \"(?P<file>[^\"]+\.mli?)\", lines? (?P<line>\d+)(?:-\d+)?, characters (?P<column>\d+)-\d+:(?P<message>)", tool="ocaml"),
    _shape("perl", " line ", r"(?P<message>.*) at (?P<file>\S+\.(?:p[lm]|t)) line (?P<line>\d+)(?:\.|, near .*)$", sure=False),
    _shape("spotbugs", ".java", r"\[ERROR\] (?:High|Medium|Low): (?P<message>.*?) \[[\w.$]+\] (?:At|In) (?P<file>\S+?\.java)(?::\[lines? (?P<line>\d+))?", tool="spotbugs"),
    _shape("typos brief", "` -> `", rf"{_FILE}:(?P<line>\d+):(?P<column>\d+): (?P<message>`.*` -> `.*`)", tool="typos"),
    _shape("brakeman", "\t", r"(?P<file>\S+\.(?:rb|erb|haml|slim))\t(?P<line>\d+)\t(?P<message>.*)", tool="brakeman"),
    _shape("cpplint", "] [", rf"{_FILE}:(?P<line>\d+):  (?P<message>.*)  \[(?P<code>[\w/+]+)\] \[\d\]$", tool="cpplint"),
    _shape("misc", ": line ", rf"{_FILE}: line (?P<line>\d+)(?:, col(?:umn)? (?P<column>\d+))?[,:] (?P<message>.*)", sure=False),
    _shape("parens", "): ", rf"{_FILE}\((?P<line>\d+)(?:[,:](?P<column>\d+))?\): (?P<message>\S.*)", sure=False),
    _shape("bare", ":", rf"{_FILE}:(?P<line>\d+)(?::(?P<column>\d+))?:\s*(?P<message>\S.*)", sure=False),
)  # fmt: skip
