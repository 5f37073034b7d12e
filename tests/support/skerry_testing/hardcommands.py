"""Commands made to be slow to judge: of one piece repeated, or of many that each cost something."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["CHARS", "hard_commands"]

CHARS = 10_000
_PIECES = (
    ";", "$(", "a|", "{", "`", "((", "${a", '"$(', "<<A\n", "<(", "[[ ", "if a;", "case a in ", "a=(", "\\", "'\"", "$((", "a b ",
    "rm -rf /x;", "{a,b}", "<<<", '"a"', "&", "(a)", "function f(", "a\n", "${a:-", "${", "!(", "[", "x=$(a ", "<< '", "\x01", "é", "*",
    "?", "if a; then ", "for i in ", "while ", "$[", "$'", "|&", ">&", "1>", ";;", "~", "<", ">", "=", "a=", "a[", "{ ", " }", ")", "))",
    "]]", '<<-"E"\n', "$#", "$$", "${#", "$((1+(", "let a=(", "#", "\t\\\n", "a ", "case x in a) b;; ", "$((a)", "$((a) ", "\\`", "`\\`",
    "@(", "f() ", "do ", "done;", "a[1", 'eval "eval ', 'bash -c "', "/*", "rm /*a*b*c* ", "rm /?a?; ", "x=$x$x;", "a=$a$a ",
    'python -c "', "python -c 'a' ;", "echo a|", "echo {a,b}{c,d}{e,f};", "sh -c x;", '"${a[@]}" ', "f(){ f;f; };f;", "sudo ", "env ",
    "xargs ", "${x//a/b}", "${x##*a}", "$x", "$@ ", "cat /etc/*a*;", "printf %s%s ", "alias a='b';", "trap 'x' E;", "timeout 1 ", "|bash",
    "echo x|sh;", "eval a;", "set -- a b;", "cd a;", "A=1 ", "ssh h ", "curl x;", "/b?n/r?;", "sed 's/a", "perl -e '`a`';", "echo a>>f;",
)  # fmt: skip


def hard_commands() -> Iterator[tuple[str, str]]:
    """(name, command), each of at most 10,000 characters."""
    for piece in _PIECES:
        yield repr(piece), (piece * CHARS)[:CHARS]
    for name, command in _made().items():
        yield name, command[:CHARS]


def _made() -> dict[str, str]:
    return {
        "calls in python": "python3 -c '" + 'os.system("a");' * 600 + "'",
        "variables run in python": "python3 -c '" + "a=b;exec(a);" * 800 + "b64decode'",
        "loops in python": "python3 -c '" + "while 1:fork " * 700 + "'",
        "characters in python": "python3 -c 'exec(" + "chr( 1 ) " * 1000 + "'",
        "quotes in perl": "perl -e '" + "qx(a) q{" * 1200 + "'",
        "prints in awk": "awk '" + "print a " * 1200 + "'",
        "commands of sed": "sed '" + "w /a;" * 2000 + "'",
        "patterns": "".join(f"rm /{i}*a*?[x]*;" for i in range(650)),
        "patterns of names": "".join(f"/b{i}*/r*m{i};" for i in range(700)),
        "stripped": "x=" + "a" * 120 + ";" + "".join(f"${{x%%*{i}*}}" for i in range(800)),
        "replaced": "x=" + "a" * 120 + ";" + "".join(f"${{x//*a{i}/}}" for i in range(700)),
        "doubled": "x=" + "a" * 100 + ";" + "x=$x$x$x;" * 900,
        "split": 'x="' + "a " * 400 + '";' + "echo $x;" * 900,
        "braces": "echo " + "{a,b}" * 1900,
        "open braces": "echo " + "{a," * 3000,
        "functions": "".join(f"f{i}(){{ f{i + 1};f{i + 1};f{i + 1}; }};" for i in range(300)) + "f0",
        "not closed": '"' + "rm a " * 1900,
        "not closed, wrapped": "'" + "env find sh " * 800,
        "handed over": "echo " + "a " * 3000 + '| xargs -I{} sh -c "{} {} {}"',
        "modes": "chmod " + "ugo" * 3000 + " x",
        "a makefile": "make -f - <<A\n" + "\ta\n" * 3000,
        "escapes": "echo $'" + "\\x41" * 2400 + "'",
        "variables": "".join(f"v{i}=1;" for i in range(600)) + "A=1 b;" * 600,
    }
