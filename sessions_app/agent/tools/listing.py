"""The result of a tool that lists things: one text, and one bracket with everything left out (spec 05 §7)."""

from __future__ import annotations

from collections.abc import Sequence

from sessions_app.agent.tools.base import Json, ToolResult
from sessions_app.agent.tools.truncation import MAX_BYTES, format_size, truncate_head


def limit_of(arguments: Json, default: int) -> int:
    """A limit below 1 means 1."""
    return max(1, int(arguments.get("limit", default)))


def listing(
    lines: Sequence[str], *, nothing: str, notices: Sequence[str] = (), details: Json | None = None
) -> ToolResult:
    """`nothing` is said when there are no lines."""
    if not lines:
        return text_result(nothing, details)
    cut = truncate_head("\n".join(lines), max_lines=len(lines))
    said = [*notices]
    if cut.truncated:
        said.append(f"only the first {format_size(MAX_BYTES)} are shown")
    text = cut.content + (f"\n\n[{'; '.join(said)}]" if said else "")
    return text_result(text, (details or {}) | ({"truncation": cut.to_details()} if cut.truncated else {}))


def text_result(text: str, details: Json | None = None, *, is_error: bool = False) -> ToolResult:
    return ToolResult([{"type": "text", "text": text}], details or {}, is_error)
