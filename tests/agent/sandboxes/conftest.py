"""Gives the tests of this folder a workspace."""

from __future__ import annotations

from tests.agent.sandboxes.fixtures import workspace

__all__ = ["workspace"]
