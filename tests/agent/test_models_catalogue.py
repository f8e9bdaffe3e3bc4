"""Models, prices, levels and output limits."""

from __future__ import annotations

import pytest

from sessions_app.agent.models_catalogue import (
    LEVELS,
    MODELS,
    ModelInfo,
    clamp_level,
    cost_of,
    describe_model,
    find_model,
    output_limit,
)


def test_every_model_is_plausible():
    assert len({(model.provider, model.id) for model in MODELS}) == len(MODELS)
    for model in MODELS:
        assert 0 < model.max_tokens < model.context_window
        assert set(model.levels) <= set(LEVELS)
        assert model.reasoning == (model.levels != ("off",))
        assert model.cost.input <= model.cost.output


def test_a_dated_id_is_found_by_its_undated_one():
    dated = find_model("anthropic", "claude-haiku-4-5-20251001")
    assert dated is not None
    assert (dated.id, dated.name) == ("claude-haiku-4-5-20251001", "Claude Haiku 4.5")
    assert find_model("anthropic", "claude-haiku-4") is None


def test_a_model_somebody_names_gets_defaults():
    model = describe_model("openai-compatible", "llama", context_window=8192)
    assert (model.id, model.context_window, model.max_tokens, model.images, model.reasoning) == (
        "llama", 8192, 16384, False, False,
    )  # fmt: skip
    assert cost_of({"input": 10**6, "output": 10**6}, model)["total"] == 0
    assert describe_model("anthropic", "claude-new").reasoning
    assert describe_model("demo", "demo").name.startswith("Demo")


def test_costs_by_kind_of_token():
    """04 §8.1."""
    opus = describe_model("anthropic", "claude-opus-5-5")
    cost = cost_of(
        {"input": 1_000_000, "output": 100_000, "cacheRead": 1_000_000, "cacheWrite": 1_000_000}, opus
    )
    assert cost == {"input": 4, "output": 2, "cacheRead": 0.2, "cacheWrite": 5, "total": pytest.approx(11.2)}


def test_one_hour_cache_writes_cost_twice_the_input():
    """04 §8.1."""
    opus = describe_model("anthropic", "claude-opus-5-5")
    assert cost_of({"cacheWrite": 1_000_000, "cacheWrite1h": 400_000}, opus)["cacheWrite"] == pytest.approx(
        0.6 * 5 + 0.4 * 8
    )


def test_the_highest_exceeded_tier_prices_the_whole_request():
    """04 §8.1."""
    haiku = describe_model("anthropic", "claude-haiku-5-5")
    assert cost_of({"input": 100_000, "output": 1_000_000}, haiku)["output"] == 0.5
    assert (
        cost_of({"input": 1, "cacheRead": 60_000, "cacheWrite": 40_000, "output": 1_000_000}, haiku)["output"]
        == 2.5
    )


def test_a_total_of_the_provider_stays():
    """04 §8.2."""
    usage = {"input": 10, "cost": {"total": 3.0, "totalFromProvider": True}}
    assert cost_of(usage, describe_model("anthropic", "claude-opus-5"))["total"] == 3.0


@pytest.mark.parametrize(
    ("known", "wanted", "used"),
    [
        (("off",), "high", "off"),
        (("off", "low", "high"), "low", "low"),
        (("off", "low", "high"), "medium", "high"),
        (("off", "low", "high"), "max", "high"),
        (("low", "medium", "high"), "off", "low"),
        (("off", "minimal", "low"), "nonsense", "low"),
    ],
)
def test_levels_are_clamped_to_the_next_higher_else_the_next_lower(known, wanted, used):
    """04 §6.2."""
    assert clamp_level(wanted, ModelInfo("p", "m", "M", 1000, 100, levels=known)) == used


@pytest.mark.parametrize(
    ("window", "most", "tokens", "limit"),
    [
        (200_000, 8_192, 1_000, 8_192),  # the model's own limit
        (200_000, 128_000, 100_000, 200_000 - 100_000 - 15_000),  # the window, with 15 % to spare
        (200_000, 128_000, 160_000, 32_768),  # close to the window: at least 32768 …
        (200_000, 128_000, 180_000, 200_000 - 180_000 - 4_096),  # … as long as that fits
        (200_000, 128_000, 250_000, 1),
    ],
)
def test_the_answer_is_limited_to_what_fits(window, most, tokens, limit):
    """04 §6.6."""
    assert output_limit(ModelInfo("p", "m", "M", window, most), tokens) == limit
