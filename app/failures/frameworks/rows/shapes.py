"""The row shapes of compilers and linters: one table line for each spelling (section 5, row shapes)."""

from app.failures.frameworks.rows.shape import Shape, shape

SHAPES: tuple[Shape, ...] = (
    shape("tsc pretty", " - ", r"\s*{path}:{line}:{column} - {severity} ?(?P<code>[A-Z]+\d+)?: ?{message}"),
    shape(
        "msbuild",
        "): ",
        r"[\s=]{0,120}(?:\d+>)?{path}\({line}(?:,{column})?(?:,\d+,\d+)?\) ?: {severity} ?(?P<code"
        r">[A-Z][A-Za-z]*\d*)?: ?{text}(?: \[.*proj\])?$",
    ),
    shape("bandit", "[bandit]", r"{path}:{line}: (?P<code>B\d+)\[bandit\]: {message}", tool="bandit"),
    shape(
        "rubocop",
        ": ",
        r"{path}:{line}:{column}: (?P<severity>[CWEFRIA]): (?:\[Correctable\] )?(?:(?P<code>[A-Z]"
        r"\w+(?:/\w+)+): )?{message}",
        tool="rubocop",
    ),
    shape(
        "gcc",
        ": ",
        r"{path}:{line}(?::{column})?(?:-\d+(?::\d+)?)?:{0,2} {0,2}{severity}(?::"
        r"|(?= \[)) *(?:\[(?P<code>[A-Z]+-?\d+)\]:?)? ?{message}",
    ),
    shape(
        "coded",
        ":",
        r"\s{0,4}{path}:{line}:(?:{column}:?)? \[?(?P<code>[A-Z]{1,6}-?\d{2,6}"
        r"|\([A-Z]\d+\))\]?:?(?: \[\*\])? {message}",
    ),
    shape(
        "markdownlint",
        "MD",
        r"{path}: ?{line}(?::{column})?:? (?P<code>MD\d{3}(?:/[\w-]+)*) {message}",
        tool="markdownlint",
    ),
    shape("maven", ":[", r"\[(?P<severity>ERROR|WARN|WARNING)\] (?P<file>\S.*?\.\w+):\[{line},?{column}?\] {message}"),
    shape(
        "checkstyle",
        "] /",
        r"\[(?P<severity>ERROR|WARN|WARNING)\] (?P<file>(?:[A-Za-z]:)?[^\s:\[]+\.\w+):{line}(?::{c"
        r"olumn})?: {text}(?: \[(?P<code>\w+)\])?$",
        tool="maven-checkstyle",
    ),
    shape(
        "checkstyle",
        "[ERROR] ",
        r"(?:\[ant:checkstyle\] |\[checkstyle\] )?\[(?P<severity>ERROR)\] (?P<file>[^\s:\[]+\.\w+)"
        r":{line}(?::{column})?: {text}(?: \[(?P<code>\w+)\])?$",
    ),
    shape(
        "sbt",
        "[error] ",
        r"\[(?P<severity>error|warn)\] (?:-- (?:\[(?P<code>E\d+)\] )?[\w ]+: )?(?P<file>(?:[A-Za-z"
        r"]:)?[^\s:\[]+\.(?:scala|java|sc|sbt)):{line}:(?:{column}(?::)?)? ?{message}",
        tool="scalac",
    ),
    shape(
        "kotlin",
        ": ",
        r"(?P<severity>[ew]): (?:file://)?(?P<file>\S.*?\.kts?):? ?\(?{line}(?:, "
        r"|:){column}\)?:? {message}",
        tool="kotlinc",
    ),
    shape("xcpretty", "❌", r"\s*❌ +{path}:{line}:{column}: {message}", tool="swiftc"),
    shape(
        "eslint compact",
        ": line ",
        r"{any}: line {line}, col {column}, (?:{severity} - )?{text}(?: \((?P<code>[\w@/-]+)\))?$",
        tool="eslint-compact",
    ),
    shape("eslint unix", " [", r"{any}:{line}:{column}: {message} \[{severity}/(?P<code>[\w@/-]+)\]$", tool="eslint"),
    shape(
        "scalastyle",
        " file=",
        r"(?:\[\w+\] )?(?P<severity>error|warning) file=(?P<file>\S+) message={text}(?: line={line"
        r"})?(?: column={column})?$",
        tool="scalastyle",
    ),
    shape("vet", "vet: ", r"vet: {path}:{line}:{column}: {message}", tool="go-vet"),
    shape(
        "go mod",
        ".go:",
        r"{path}:{line}(?::{column})?: (?P<message>(?:undefined: "
        r"|undeclared name: |cannot use |imported and not used|\S+ redeclared"
        r"|.* declared (?:and|but) not used|missing return|too many arguments"
        r"|not enough arguments|cannot find package|no required module"
        r"|package \S+ is not in|syntax error|invalid operation|cannot find module"
        r"|could not import|undefined \(type).*)",
        tool="go-build",
    ),
    shape(
        "elixir",
        "Error) ",
        r"\*\* \((?P<code>(?:Compile|Syntax|Token|TokenMissing"
        r"|Mismatched\w*)Error)\) (?:\(.*?\) )?{path}:{line}(?::{column})?: {message}",
        tool="elixirc",
    ),
    shape("erlang", "rl:", r"(?P<file>\S+\.[eh]rl):{line}(?::{column})?: (?P<message>(?!Warning).*)", tool="erlc"),
    shape(
        "ld",
        "undefined reference to",
        r"(?:\S*ld(?:\.\w+)?: )?(?:\S+\.o:)?(?P<file>[^\s:(]+\.\w+):(?:{line}"
        r"|\(\.\S+\)): (?P<message>undefined reference to .*)",
        tool="ld",
    ),
    shape(
        "ld",
        "undefined reference to",
        r"(?:\S*ld(?:\.\w+)?: )?(?P<file>[^\s:(]+\.(?:o"
        r"|a|so))[:(].*?(?P<message>undefined reference to .*)",
        tool="ld",
    ),
    shape(
        "ld mac",
        "multiple definition of",
        r"(?:\S*ld(?:\.\w+)?: )?(?P<file>[^\s:(]+\.\w+):.*?(?P<message>multiple definition of .*)",
        tool="ld",
    ),
    shape("black", "would reformat ", r"(?P<message>would reformat (?P<file>\S.*))$", tool="black"),
    shape("ruff format", "Would reformat: ", r"(?P<message>Would reformat: (?P<file>\S.*))$", tool="ruff"),
    shape("prettier", "[warn] ", r"\[warn\] (?P<file>\S+\.\w{1,8})(?P<message>)$", tool="prettier"),
    shape(
        "prettier",
        "[error] ",
        r"\[error\] (?P<file>\S+\.\w{1,8}): (?P<message>\w*Error: .*?)(?: \({line}:{column}\))?$",
        tool="prettier",
    ),
    shape("rustfmt", "Diff in ", r"(?P<message>Diff in (?P<file>\S+?)(?: at line |:){line}:?)$", tool="rustfmt"),
    shape(
        "isort", "ERROR: ", r"ERROR: (?P<file>\S+\.pyi?) (?P<message>Imports are incorrectly sorted.*)", tool="isort"
    ),
    shape(
        "golangci",
        " (",
        r"{path}:{line}(?::{column})?: {message} \((?P<code>[a-z][a-z0-9]+"
        r"|SA\d+|S\d+|ST\d+|QF\d+|U\d+|[a-z][\w-]+:[\w-]+)\)$",
        tool="golangci-lint",
    ),
    shape("gosec", " - ", r"\[(?P<file>\S+?):{line}(?:-\d+)?\] - (?:(?P<code>G\d+):? )?{message}", tool="gosec"),
    shape(
        "cppcheck", "]: (", r"\[(?P<file>\S+?):{line}\](?: -> .*?)?: \((?P<severity>\w+)\) {message}", tool="cppcheck"
    ),
    shape("protolint", "] ", r"\[(?P<file>\S+?\.proto):{line}:{column}\] {message}", tool="protolint"),
    shape("haml-lint", "] ", r"{path}:{line}(?::\d+)? \[(?P<severity>[WEF])\] {message}", tool="haml-lint"),
    shape(
        "misspell",
        "misspelling of",
        r"{path}:{line}:{column}: (?P<message>\"\S+\" is a misspelling of .*)",
        tool="misspell",
    ),
    shape(
        "puppet-lint",
        " on line ",
        r"(?:(?P<file>\S+\.pp) - )?(?P<severity>WARNING|ERROR): {message} on line {line}(?: col(?:"
        r"umn)? {column})?(?: \((?P<code>\w+)\))?$",
        tool="puppet-lint",
    ),
    shape(
        "tslint",
        "]: ",
        r"(?P<severity>ERROR|WARNING): (?:\((?P<code>[\w-]+)\) )?{path}\[{line}, {column}\]: {mess"
        r"age}",
        tool="tslint",
    ),
    shape("tslint", " - ", r"(?P<severity>ERROR|WARNING): {path}:{line}:{column} - {message}", tool="tslint"),
    shape(
        "psalm", " - ", r"(?P<severity>ERROR|INFO): (?P<code>\w+) - {path}:{line}:{column} - {message}", tool="psalm"
    ),
    shape(
        "yamllint",
        "] ",
        r"{path}:{line}:{column}: \[(?P<severity>error|warning)\] {text}(?: \((?P<code>[\w-]+)\))?$",
        tool="yamllint",
    ),
    shape(
        "ansible-lint",
        ": ",
        r"(?P<file>\S+\.ya?ml):{line}(?::{column})?: (?:\[(?P<code>E\d+)\] )?(?P<message>\S.*)",
        tool="ansible-lint",
    ),
    shape(
        "ktlint",
        ".kt",
        r"(?P<file>\S+\.kts?):{line}:{column}: {text}(?: \((?P<code>[\w:-]+)\)| \[(?P<code2>\w+)\])?$",
        tool="ktlint",
    ),
    shape(
        "standard",
        ": ",
        r"  (?P<file>/?\S+\.[cm]?[jt]sx?):{line}:{column}: {text}(?: \((?P<code>[\w@/-]+)\))?$",
        tool="standardjs",
    ),
    shape(
        "luacheck",
        ".lua:",
        r"\s*(?P<file>\S+\.lua):{line}:{column}(?:-\d+)?: (?:\((?P<code>[WE]\d+)\) )?{message}",
        tool="luacheck",
    ),
    shape("tsd", "✖", r"(?P<message>)(?P<file>)\s+✖ +{line}:{column} +.*", tool="tsd"),
    shape(
        "rustc before 1.12",
        " error: ",
        r"(?P<file>\S+\.rs):{line}:{column}: \d+:\d+ (?P<severity>error|warning): {message}",
        tool="rustc",
    ),
    shape("hadolint", ":", r"{path}:{line} (?P<code>(?:DL|SC)\d+) (?:{severity}: )?{message}", tool="hadolint"),
    shape("psalm text", " - ", r"{path}:{line}:{column}:(?P<severity>error|warning|info) - {message}", tool="psalm"),
    shape("puppet-lint", ".pp:", r"(?P<file>\S+\.pp):{line}:(?P<severity>error|warning):{message}", tool="puppet-lint"),
    shape(
        "php",
        " on line ",
        r"(?:PHP )?(?:Parse|Fatal) error: +{message} in (?P<file>\S+\.(?:php"
        r"|inc|phtml)) on line {line}$",
        tool="php",
    ),
    shape(
        "cmake",
        "CMake ",
        r"CMake (?P<severity>Error|Warning)(?: \(dev\))? at (?P<file>\S+?):{line}{message}",
        tool="cmake",
    ),
    shape(
        "dart",
        " • ",
        r"\s*(?P<severity>error|warning|info) • {message} • (?P<file>\S+\.dart):{line}:{column} • "
        r"(?P<code>\w+)",
        tool="dart",
    ),
    shape(
        "msvc link",
        " LNK",
        r"(?P<file>\S+\.(?:obj|lib|exe|dll))(?:\(\S+\))? : (?:fatal )?(?P<severity>error) (?P<code"
        r">LNK\d+): {message}",
        tool="ld",
    ),
    shape(
        "ocaml",
        "characters ",
        r"File \"(?P<file>[^\"]+\.mli?)\", lines? {line}(?:-\d+)?, characters {column}-\d+:(?P<mes"
        r"sage>)",
        tool="ocaml",
    ),
    shape("perl", " line ", r"{message} at (?P<file>\S+\.(?:p[lm]|t)) line {line}(?:\.|, near .*)$", sure=False),
    shape(
        "spotbugs",
        ".java",
        r"\[ERROR\] (?:High|Medium|Low): {text} \[[\w.$]+\] (?:At"
        r"|In) (?P<file>\S+?\.java)(?::\[lines? {line})?",
        tool="spotbugs",
    ),
    shape("typos brief", "` -> `", r"{path}:{line}:{column}: (?P<message>`.*` -> `.*`)", tool="typos"),
    shape("brakeman", "\t", r"(?P<file>\S+\.(?:rb|erb|haml|slim))\t{line}\t{message}", tool="brakeman"),
    shape("cpplint", "] [", r"{path}:{line}:  {message}  \[(?P<code>[\w/+]+)\] \[\d\]$", tool="cpplint"),
    shape("misc", ": line ", r"{path}: line {line}(?:, col(?:umn)? {column})?[,:] {message}", sure=False),
    shape("parens", "): ", r"{path}\({line}(?:[,:]{column})?\): (?P<message>\S.*)", sure=False),
    shape("bare", ":", r"{path}:{line}(?::{column})?:\s*(?P<message>\S.*)", sure=False),
)
