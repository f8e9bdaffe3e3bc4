"""What a worker does: claim a run, drive the loop, store and announce what happens, end it whatever comes."""

from __future__ import annotations

from sessions_app.runner.prompt_run import run_prompt

__all__ = ["run_prompt"]
