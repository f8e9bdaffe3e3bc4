"""The grep and find tools, grep with and without ripgrep (05 §7)."""

from __future__ import annotations

import os
import shutil
import time

import pytest

from sessions_app.agent.sandboxes.base import SandboxError
from sessions_app.agent.sandboxes.local import LocalSandbox
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tools.base import ToolError, ToolResult
from tests.agent.sandboxes.workspace import Workspace, text_of


class Bare(LocalSandbox):
    """Finds no programs, so that tools have to do it themselves."""

    def program(self, *names: str) -> str | None:
        return None


ENGINES = [Bare, LocalSandbox] if shutil.which("rg") else [Bare]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> type[LocalSandbox]:
    chosen: type[LocalSandbox] = request.param
    return chosen


def grep(workspace: Workspace, engine: type[LocalSandbox], pattern: str, **arguments: object) -> ToolResult:
    sandbox = engine(workspace.folder, run_marker=workspace.marker, spill_dir=workspace.spill)
    return workspace.call("grep", sandbox=sandbox, pattern=pattern, **arguments)


def lines(result: ToolResult) -> list[str]:
    return text_of(result).split("\n")


@pytest.fixture
def project(workspace: Workspace) -> Workspace:
    workspace.file("src/a.py", "import os\n\ndef hello():\n    return 'Hello'\n")
    workspace.file("src/b.txt", "hello there\r\nnothing\r\n")
    workspace.file(".hidden/c.py", "hello = 1\n")
    workspace.file("z.log", "hello\n")
    workspace.file("node_modules/x/i.js", "hello\n")
    workspace.file(".git/config", "hello\n")
    workspace.file("data.bin", b"hello\0hello\n")
    workspace.file(".gitignore", "*.log\nnode_modules/\n")
    return workspace


def test_matching_lines_are_found_in_all_files_that_are_not_ignored(
    project: Workspace, engine: type[LocalSandbox]
) -> None:
    """05 §7.1."""
    result = grep(project, engine, "hello")
    assert lines(result) == [
        ".hidden/c.py:1: hello = 1",
        "src/a.py:3: def hello():",
        "src/b.txt:1: hello there",
    ]
    assert result.details == {}


def test_options_narrow_and_widen_the_search(project: Workspace, engine: type[LocalSandbox]) -> None:
    """05 §7.1."""
    assert lines(grep(project, engine, "HELLO\\b", ignoreCase=True, glob="*.py", path="src")) == [
        "a.py:3: def hello():",
        "a.py:4:     return 'Hello'",
    ]
    assert lines(grep(project, engine, "hello()", literal=True)) == ["src/a.py:3: def hello():"]
    assert lines(grep(project, engine, "hello", glob="./src/*.txt")) == ["src/b.txt:1: hello there"]
    assert lines(grep(project, engine, "^hello", glob="**/*.{js,txt}")) == ["src/b.txt:1: hello there"]
    assert lines(grep(project, engine, "e$", path="src/b.txt")) == ["b.txt:1: hello there"]
    assert text_of(grep(project, engine, "not there at all")) == "No line matches."


def test_context_is_shown_around_each_match(project: Workspace, engine: type[LocalSandbox]) -> None:
    """05 §7.1."""
    assert lines(grep(project, engine, "def", context=1)) == [
        "src/a.py-2- ",
        "src/a.py:3: def hello():",
        "src/a.py-4-     return 'Hello'",
    ]


def test_a_limit_is_said_only_when_a_further_match_exists(
    workspace: Workspace, engine: type[LocalSandbox]
) -> None:
    """05 §7.1."""
    workspace.file("a", "x1\ny\nx2\ny\ny\ny\nx3\n")
    workspace.file("b", "y\nx4\n")
    assert lines(grep(workspace, engine, "x", limit=4)) == ["a:1: x1", "a:3: x2", "a:7: x3", "b:2: x4"]
    assert lines(grep(workspace, engine, "x", limit=2, context=1)) == [
        "a:1: x1", "a-2- y", "a:3: x2", "a-4- y", "",
        "[the limit of 2 matches is reached; for more use limit=4 or a narrower pattern]",
    ]  # fmt: skip
    assert lines(grep(workspace, engine, "x", limit=3, context=1))[-4:] == [
        "a-6- y", "a:7: x3", "", "[the limit of 3 matches is reached; for more use limit=6 or a narrower pattern]",
    ]  # fmt: skip
    assert grep(workspace, engine, "x", limit=3).details == {"matchLimitReached": 3}


def test_long_lines_are_cut(workspace: Workspace, engine: type[LocalSandbox]) -> None:
    """05 §1.3."""
    workspace.file("min.js", "x" * 5_000_000)
    text = text_of(grep(workspace, engine, "x+"))
    assert text == (
        f"min.js:1: {'x' * 500} … [line cut]\n\n[long lines are cut at 500 characters; read shows them whole]"
    )


def test_what_was_ignored_can_be_searched_when_named(project: Workspace, engine: type[LocalSandbox]) -> None:
    assert lines(grep(project, engine, "hello", path="node_modules")) == ["x/i.js:1: hello"]
    assert lines(grep(project, engine, "hello", path="z.log")) == ["z.log:1: hello"]


def test_rules_from_above_and_below_are_honoured(workspace: Workspace, engine: type[LocalSandbox]) -> None:
    workspace.file(".gitignore", "*.gen\n/src/out/\n")
    workspace.file("src/.gitignore", "!keep.gen\n/local.py\n")
    for name in (
        "src/a.gen",
        "src/keep.gen",
        "src/out/x.py",
        "src/deep/out/y.py",
        "src/local.py",
        "src/deep/local.py",
    ):
        workspace.file(name, "hit\n")
    assert lines(grep(workspace, engine, "hit", path="src")) == [
        "deep/local.py:1: hit", "deep/out/y.py:1: hit", "keep.gen:1: hit",
    ]  # fmt: skip


def test_links_are_not_followed(workspace: Workspace, engine: type[LocalSandbox]) -> None:
    (workspace.folder.parent / "secret").write_text("hit\n")
    (workspace.folder / "link").symlink_to("../secret")
    (workspace.folder / "circle").symlink_to(".")
    (workspace.folder / "again").symlink_to("a")
    workspace.file("a", "hit\n")
    os.mkfifo(workspace.folder / "pipe")
    assert lines(grep(workspace, engine, "hit")) == ["a:1: hit"]


def test_odd_names_and_bytes_can_be_shown(workspace: Workspace, engine: type[LocalSandbox]) -> None:
    workspace.file("a b'$(touch x).txt", b"caf\xe9 hit \x1b[31m\n")
    workspace.file("-e", "hit\n")
    workspace.file("wide", "hit ü\n".encode("utf-16"))
    assert lines(grep(workspace, engine, "hit")) == [
        "-e:1: hit", "a b'$(touch x).txt:1: caf\ufffd hit ␛[31m", "wide:1: hit ü",
    ]  # fmt: skip
    assert text_of(grep(workspace, engine, "-e")) == "No line matches."


def test_look_around_works_with_either_engine(workspace: Workspace, engine: type[LocalSandbox]) -> None:
    workspace.file("a", "foobar\nfoobaz\n")
    assert lines(grep(workspace, engine, "foo(?!bar)")) == ["a:2: foobaz"]


def test_a_malformed_pattern_is_explained(workspace: Workspace, engine: type[LocalSandbox]) -> None:
    with pytest.raises(ToolError, match=r"malformed.*literal=true"):
        grep(workspace, engine, "foo(")


def test_a_missing_or_outside_path_is_refused(workspace: Workspace, engine: type[LocalSandbox]) -> None:
    """05 §7.1, B53."""
    with pytest.raises(ToolError, match="does not exist"):
        grep(workspace, engine, "x", path="zz")
    with pytest.raises(SandboxError, match="outside the workspace"):
        grep(workspace, engine, "root", path="/etc")


def test_a_pattern_that_explodes_is_given_up(workspace: Workspace) -> None:
    workspace.file("a", "a" * 5000 + "b\n")
    started = time.monotonic()
    with pytest.raises(ToolError, match="too long"):
        grep(workspace, Bare, "(a|aa)+(?<!x)$")
    assert time.monotonic() - started < 20  # without a limit: for ever


def test_a_stopped_search_says_so(project: Workspace, engine: type[LocalSandbox]) -> None:
    stop = StopSignal()
    stop.request()
    sandbox = engine(project.folder, run_marker=project.marker)
    for tool in ("grep", "find"):
        with pytest.raises(ToolError, match="search was stopped"):
            project.call(tool, sandbox=sandbox, stop=stop, pattern="*" if tool == "find" else "hello")


def test_find_matches_names_at_any_depth_and_paths_from_the_root(project: Workspace) -> None:
    """05 §7.2."""

    def find(pattern: str, **arguments: object) -> list[str]:
        return lines(project.call("find", pattern=pattern, **arguments))

    assert find("*.py") == [".hidden/c.py", "src/a.py"]
    assert find("src/*") == ["src/a.py", "src/b.txt"]
    assert find("**/*.txt") == ["src/b.txt"]
    assert find("./*.TXT") == ["Nothing matches the pattern."]
    assert find("SRC") == ["Nothing matches the pattern."]
    assert find("src") == ["src/"]
    assert find("?.py", path="src") == ["a.py"]
    assert find("*.log") == ["Nothing matches the pattern."]
    assert find("*.{js,log}", path="node_modules") == ["x/i.js"]


def test_find_ignores_case_for_patterns_in_lower_case(workspace: Workspace) -> None:
    """05 §7.2."""
    workspace.file("README.md")
    assert text_of(workspace.call("find", pattern="readme*")) == "README.md"


def test_find_says_when_its_limit_is_reached(workspace: Workspace) -> None:
    for number in range(3):
        workspace.file(f"{number}.txt")
    result = workspace.call("find", pattern="*.txt", limit=2)
    assert lines(result)[2:] == [
        "", "[the limit of 2 results is reached; for more use limit=4 or a narrower pattern]",
    ]  # fmt: skip
    assert result.details == {"resultLimitReached": 2}
    assert lines(workspace.call("find", pattern="*.txt", limit=3)) == ["0.txt", "1.txt", "2.txt"]


def test_a_listing_is_cut_at_50_kilobytes(workspace: Workspace) -> None:
    for number in range(400):
        workspace.file(f"{number:04}{'x' * 200}")
    result = workspace.call("find", pattern="*")
    assert text_of(result).endswith("[only the first 50.0KB are shown]")
    assert result.details["truncation"]["truncatedBy"] == "bytes"


@pytest.mark.parametrize("pattern", ["{a", "x" * 2000])
def test_a_malformed_file_pattern_is_explained(workspace: Workspace, pattern: str) -> None:
    with pytest.raises(ToolError, match="file pattern"):
        workspace.call("find", pattern=pattern)


def test_a_file_pattern_that_explodes_is_given_up(workspace: Workspace) -> None:
    workspace.file("a" * 250)
    started = time.monotonic()
    with pytest.raises(ToolError, match="fewer wildcards"):
        workspace.call("find", pattern="{a,aa}" * 40 + "*[bc]")
    assert time.monotonic() - started < 20


def test_without_a_limit_there_is_one_all_the_same(workspace: Workspace, engine: type[LocalSandbox]) -> None:
    """05 §1.4: 100 matches, 1000 names, 500 entries; below 1 is 1."""
    workspace.file("many", "hit\n" * 101)
    for number in range(1001):
        workspace.file(f"names/{number}")
    found = grep(workspace, engine, "hit")
    assert (len(lines(found)), found.details) == (100 + 2, {"matchLimitReached": 100})
    assert workspace.call("find", pattern="*", path="names").details == {"resultLimitReached": 1000}
    assert workspace.call("ls", path="names").details == {"entryLimitReached": 500}
    assert lines(grep(workspace, engine, "hit", limit=0))[:2] == ["many:1: hit", ""]


def test_all_notices_stand_in_one_bracket(workspace: Workspace, engine: type[LocalSandbox]) -> None:
    """05 §7.4."""
    workspace.file("wide", f"{'x' * 600}\n" * 3)
    *_, empty, notice = lines(grep(workspace, engine, "x+", limit=2))
    assert empty == ""
    assert notice == (
        "[the limit of 2 matches is reached; for more use limit=4 or a narrower pattern; "
        "long lines are cut at 500 characters; read shows them whole]"
    )


RULES = {
    ".gitignore": "*.log\n!keep.log\n/top.txt\nbuild/\n**/deep/*.tmp\n# note\nspa\\ ce.txt\n[ab].md\n",
    "sub/.gitignore": "!extra.log\n*.py\n/only-here.txt\ndocs/*\n!docs/kept.txt\n",
    "sub/again/.gitignore": "!*.py\n",
}
PLACES = (
    "a.py", "a.md", "c.md", "x.log", "keep.log", "top.txt", "spa ce.txt", ".hidden", ".dot/inside.txt",
    "build/out.txt", "one/deep/x.tmp", "one/deep/x.txt", "sub/a.py", "sub/top.txt", "sub/extra.log",
    "sub/only-here.txt", "sub/docs/gone.txt", "sub/docs/kept.txt", "sub/again/a.py", "sub/again/only-here.txt",
    "sub/build/out.txt", "übermaß/naïve.txt", "日本/語.txt", "-dash.txt", "quo'te.txt", "node/.git/config",
)  # fmt: skip
ASKED: tuple[dict[str, object], ...] = (
    {"pattern": "hit"}, {"pattern": "HIT"}, {"pattern": "HIT", "ignoreCase": True}, {"pattern": "^hit \\d+$"},
    {"pattern": "hit", "path": "sub"}, {"pattern": "hit", "path": "sub/docs"}, {"pattern": "hit", "path": "build"},
    {"pattern": "hit", "path": "sub/again"}, {"pattern": "hit", "path": "sub/a.py"}, {"pattern": "hit", "path": "link"},
    {"pattern": "hit", "glob": "*.txt"}, {"pattern": "hit", "glob": "sub/**"}, {"pattern": "hit", "glob": "./a.py"},
    {"pattern": "hit", "glob": "*.{py,md}"}, {"pattern": "ümlaut|日本"}, {"pattern": "a.c", "literal": True},
    {"pattern": "a.c"}, {"pattern": "hit", "context": 1}, {"pattern": "hit", "context": 2, "limit": 3},
    {"pattern": "hit", "limit": 5}, {"pattern": "end$"}, {"pattern": "\\bwide\\b"}, {"pattern": "nothing at all"},
    {"pattern": "tab\\tthere"}, {"pattern": "z{600}"}, {"pattern": "\\w+ 2"}, {"pattern": "ÜMLAUT", "ignoreCase": True},
)  # fmt: skip


def test_all_engines_find_the_same(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    """05 §7.1: ignore files of every level, hidden, binary, wide and foreign text, links, limits. Compared with ripgrep
    where that is there; the output of the tests says which engines were."""
    for name, text in RULES.items():
        workspace.file(name, text)
    for name in PLACES:
        workspace.file(name, f"first\nhit 1 {name}\r\nhit 2\nümlaut 日本\na.c abc\nend")
    workspace.file("binary.dat", b"hit\0hit\n")
    workspace.file("late.dat", b"hit early\n" + b"x" * 70_000 + b"\0\n")
    workspace.file("latin.txt", b"hit caf\xe9\ntab\tthere\n")
    workspace.file("wide.txt", "hit wide\n".encode("utf-16"))
    workspace.file("mark.txt", b"\xef\xbb\xbfhit marked\n")
    workspace.file("long.txt", "z" * 700 + " hit\n")
    workspace.file("empty.txt", "")
    (workspace.folder / "link").symlink_to("sub")
    (workspace.folder / "broken").symlink_to("nowhere")
    (workspace.folder / "alias.txt").symlink_to("a.py")
    with capsys.disabled():
        print(f"\ncompared: {', '.join(engine.__name__ for engine in ENGINES)}")
    for asked in ASKED:
        found = [grep(workspace, engine, **asked) for engine in ENGINES]  # type: ignore[arg-type]
        assert [result.details for result in found] == [found[0].details] * len(found), asked
        assert [text_of(result) for result in found] == [text_of(found[0])] * len(found), asked
    listed = {line.split(":")[0] for line in lines(grep(workspace, Bare, "hit 1"))}
    assert {"sub/again/a.py", "sub/extra.log", "keep.log", "sub/docs/kept.txt", ".dot/inside.txt"} <= listed
    assert not {"sub/a.py", "x.log", "top.txt", "a.md", "build/out.txt", "sub/docs/gone.txt"} & listed
    names = set(lines(workspace.call("find", pattern="**")))
    assert {name for name in PLACES if name in names} == {name for name in PLACES if name in listed}
