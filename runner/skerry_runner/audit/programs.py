"""Code that an interpreter is given on the command line or on its input, whatever its language.

No parser of each language: calls that run commands, delete, read or write are looked for, and the literals beside
them are judged as what they would be. A text that is only printed is data.
"""

from __future__ import annotations

import re

from skerry_runner.audit.escapes import ansi
from skerry_runner.audit.finder import Finder
from skerry_runner.audit.paths import HOME, is_secret, is_system, is_tree, resolve
from skerry_runner.audit.values import UNKNOWN, Taint, Text, plain

__all__ = ["judge_program"]

CODE_MAX = 10_000
LITERALS_MAX = 60
NESTED_MAX = 3
_CONCATENATED = re.compile(r"(['\"])\s*[+.]\s*\1")
_LITERAL = re.compile(
    r"\"\"\".{0,4000}?\"\"\"|'''.{0,4000}?'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`",
    re.DOTALL,
)
_QX = re.compile(r"(?:%x|qx|%q|%Q|\bq|\bqq)\s*([{(\[/|!])(.{0,2000}?)[})\]/|!]", re.DOTALL)
_RUNS = re.compile(
    r"\bsystem\b|popen|subprocess|getoutput|pty\.spawn|os\.exec|os\.spawn|posix_spawn|\bexec[lv]?[pe]*\s*[( '\"]|\bspawn\w*\s*\(|"
    r"child_process|execSync|execFile|shell_exec|passthru|proc_open|os\.execute|Open3|%x|\bqx\b|Deno\.Command|Bun\.spawn|"
    r"ProcessBuilder|Runtime\.getRuntime|__import__|getattr\s*\(|importlib|__builtins__|\bsyscall\b|\bgetline\b|\|\s*\"|Kernel\.|\bsend\s*\("
)
_DELETES = re.compile(
    r"rmtree|rmdir|rmSync|removedirs|rm_rf|rm_r\b|remove_entry|remove_tree|rimraf|deltree|fs\.rm\b|FileUtils\.rm|removeSync|"
    r"emptyDirSync|delete_tree|RemoveAll|promises\.rm\b|\bunlink|os\.remove|shutil\.move|os\.rename"
)
_READS = re.compile(
    r"\bopen\b|read_text|read_bytes|readFile|readlines|File\.|file_get_contents|\bfile\s*\(|IO\.|readfile|fopen|createReadStream|Path\s*\(|\bslurp|cat\(|-ne|@ARGV|<"
)
_WRITES = re.compile(
    r"write_text|write_bytes|writeFile|appendFile|file_put_contents|File\.write|createWriteStream|open\s*\([^)]{0,200},\s*[rf]?['\"][wax>]|copyfile|shutil\.copy|os\.chmod|\bchmod|>\s*['\"]/"
)
_SOCKETS = re.compile(
    r"\bsocket\b|fsockopen|net\.connect|net\.Socket|require\(\s*[\'\"](node:)?net[\'\"]|createConnection|TCPSocket|/inet/(tcp|udp)/|IO::Socket|pfsockopen",
    re.IGNORECASE,
)
_SHELL_ENDS = re.compile(
    r"dup2|/bin/(ba|z|da|k)?sh|\bsh -i|bash -i|pty\.spawn|\bspawn\b|\bexec\w*\s*\(|subprocess|cmd\.exe"
)
_DYNAMIC = re.compile(
    r"\b(exec|eval|Function|instance_eval|class_eval|loadstring|load|compile|execfile|runpy|vm\.run\w*|create_function|assert)\b\s*[( ]"
)
_FETCHES = re.compile(
    r"urlopen|urlretrieve|requests\.(get|post)|httpx\.|urllib|http\.get|https\.get|fetch\s*\(|curl_exec|Net::HTTP|open-uri|LWP|HTTP::Tiny|get\(['\"]http|file_get_contents\(['\"]https?:|URI\.open|['\"]https?://"
)
_DECODES = re.compile(
    r"b64decode|b32decode|b85decode|a85decode|fromhex|unhexlify|\batob\b|Buffer\.from|decode64|decode_base64|base64_decode|unpack|decompress|rot.?13|marshal\.loads|pickle\.loads|gzinflate|str_rot13|hex2bin|fromCharCode|(?:chr\s*\(\s*\d+\s*\)\s*[+.,]?\s*){2,}|map\s*\(\s*chr|join\s*\(.{0,40}chr\s*\(",
    re.IGNORECASE | re.DOTALL,
)
_PASSED = re.compile(r"\(\s*(eval|exec|Function)\s*\)")
_FORKS = re.compile(
    r"while\s*\(?\s*(True|1|true|fork)\b.{0,80}fork|fork\s+while|loop\s*\{?\s*fork|while\s+fork", re.DOTALL
)
_ENVIRONMENT = re.compile(
    r"(dict|str|dumps|urlencode|repr|stringify|json|data|items)\s*[(=:]\s*\(?(dict\s*\(\s*)?(os\.environ\b(?!\[|\.get)|process\.env\b(?!\.|\[))|ENV\.(to_h|to_a|inspect|to_json)"
)
_SENDS = re.compile(r"requests\.(post|put|get)|urlopen|http\.client|fetch\s*\(|socket|httpx|Net::HTTP|axios")
_METADATA = re.compile(
    r"169\.254\.169\.254|metadata\.google\.internal|100\.100\.100\.200|fd00:ec2::254|169\.254\.170\.2"
)
_KILLS = re.compile(r"os\.kill\s*\(\s*-?1\b|process\.kill\s*\(\s*-?1\b|os\.reboot|ctypes.{0,80}reboot")

_ALONE = ((_FORKS, "fork-bomb"), (_METADATA, "cloud-metadata"), (_KILLS, "kill-all"))


def judge_program(judge: Finder, code: Text, language: str, depth: int = 0) -> None:
    """Judge a program's text; `language` is its interpreter's name."""
    text = code.text[:CODE_MAX]
    if code.taint & {Taint.DECODED}:
        judge.find("run-decoded")
    if Taint.NET in code.taint and text.lstrip().startswith(UNKNOWN):
        judge.find("run-download")
    joined = _CONCATENATED.sub("", text)
    judge.budget.take(len(joined) // 40)
    runs, dynamic = bool(_RUNS.search(joined)), bool(_DYNAMIC.search(joined))
    if language in {"perl", "ruby", "php", "awk"} and "`" in joined and language != "awk":
        runs = True
    if _SOCKETS.search(joined) and _SHELL_ENDS.search(joined):
        judge.find("reverse-shell")
    _sources(judge, joined, runs=runs, dynamic=dynamic)
    if _ENVIRONMENT.search(joined) and _SENDS.search(joined):
        judge.find("send-environment")
    for pattern, rule in _ALONE:
        if pattern.search(joined):
            judge.find(rule)
    if dynamic and depth < NESTED_MAX:
        _inner(judge, joined, language, depth + 1)
    _literals(judge, joined, runs=runs)


def _inner(judge: Finder, text: str, language: str, depth: int) -> None:
    """Programs in the literals of a program that runs texts."""
    for match in list(_LITERAL.finditer(text))[:10]:
        inner = _unquoted(match.group())
        if _RUNS.search(inner) or _DELETES.search(inner):
            judge_program(judge, plain(inner), language, depth)


def _sources(judge: Finder, text: str, *, runs: bool, dynamic: bool) -> None:
    """Texts that are decoded or fetched, and run."""
    if (runs or dynamic) and _DECODES.search(text) and _fed(text, _DECODES):
        judge.find("run-decoded")
    if _FETCHES.search(text) and (_PASSED.search(text) or (dynamic and _fed(text, _FETCHES))):
        judge.find("run-download")


def _fed(text: str, source: re.Pattern[str]) -> bool:
    """Whether something runs what the source gives: the call stands around it, or around a variable of its."""
    calls = re.compile(
        r"(?:\b(?:exec|eval|Function|instance_eval|loadstring|compile|system|popen|run|call|Popen|check_output|execSync|shell_exec|passthru|assert|spawn\w*)\b\s*[( ]|\bqx\b|`)(.{0,300})",
        re.DOTALL,
    )
    for match in list(calls.finditer(text[:4000]))[:60]:
        inner = match.group(1).split("\n")[0]
        if source.search(inner):
            return True
        for name in re.findall(r"[A-Za-z_]\w*", inner)[:6]:
            assigned = re.search(rf"\b{name}\b\s*=\s*(.{{0,300}})", text)
            if assigned and source.search(assigned.group(1).split("\n")[0]):
                return True
    return False


def _literals(judge: Finder, text: str, *, runs: bool) -> None:
    deletes, reads, writes = (bool(p.search(text)) for p in (_DELETES, _READS, _WRITES))
    if not (runs or deletes or reads or writes):
        return
    group: list[Text] = []
    end = -1
    for number, match in enumerate(_LITERAL.finditer(text)):
        if number >= LITERALS_MAX:
            break
        judge.budget.take(5)
        value = _unquoted(match.group())
        if runs:
            # Literals with only commas between are one command's arguments.
            between = text[end : match.start()] if end >= 0 else None
            group = (
                [*group, plain(value)]
                if between is not None and re.fullmatch(r"\s*,\s*\[?\s*", between)
                else [plain(value)]
            )
            end = match.end()
            if len(group) > 1:
                judge.call(group[:20], None)
            elif value.strip():
                judge.code(value)
        _path(judge, value, deletes=deletes, reads=reads, writes=writes)
    if runs:
        for match in list(_QX.finditer(text))[:20]:
            judge.code(match.group(2))


def _unquoted(literal: str) -> str:
    size = 3 if literal.startswith(('"""', "'''")) else 1
    inner = literal[size:-size]
    return ansi(inner) if "\\" in inner else inner


def _path(judge: Finder, value: str, *, deletes: bool, reads: bool, writes: bool) -> None:
    if len(value) > 300 or not value.startswith(("/", "~")):
        return
    text = HOME + value[1:] if value.startswith("~") else value
    place = resolve(text, judge.cwd)
    if place is None:
        return
    glob = any(char in value for char in "*?[")
    if deletes and is_tree(place, glob=glob):
        judge.find("delete-system")
    elif deletes and is_system(place, glob=glob):
        judge.find("write-system")
    if reads and (rule := is_secret(Text(place, glob), None)):
        judge.find(rule)
    if writes:
        judge.write(Text(place))
