"""The offline demo model: requests are recognised by patterns, jobs are scripts over tool results."""

from __future__ import annotations

from sessions_app.agent.providers.demo.provider import DemoProvider

__all__ = ["DemoProvider"]
