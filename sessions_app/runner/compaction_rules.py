"""The compaction settings in force for a model."""

from __future__ import annotations

from django.conf import settings

from sessions_app.agent.models_catalogue import ModelInfo
from sessions_app.core.compaction_settings import (
    BranchSummarySettings,
    CompactionSettings,
    resolve,
    resolve_branch_summary,
)
from sessions_app.core.triggers import SelectedModel


def compaction_settings(model: ModelInfo) -> CompactionSettings:
    """Override of the model → ordinary → default, each value by itself (02 §10)."""
    return resolve({"compaction": settings.COMPACTION}, f"{model.provider}/{model.id}")


def branch_summary_settings() -> BranchSummarySettings:
    """No model changes these (03)."""
    return resolve_branch_summary({"branchSummary": settings.BRANCH_SUMMARY})


def selected(model: ModelInfo) -> SelectedModel:
    """The model as triggers know it."""
    return SelectedModel(model.provider, model.id, model.context_window, model.max_tokens)
