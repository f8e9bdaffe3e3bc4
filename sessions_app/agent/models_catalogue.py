"""What is known of the models: sizes, prices, abilities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0


@dataclass(frozen=True, slots=True)
class PriceTier:
    """A price for the whole request once its input (cache included) is above `above` tokens (04 §8)."""

    above: int
    price: Price


LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One model of one provider.

    `context_window` and `max_tokens` are tokens. `thinking` is how the provider asks for it: none, budget
    (a number of tokens) or adaptive (an effort). `levels` are the thinking levels the model knows, in the
    order of LEVELS; without `off` it cannot be kept from thinking. `thinking_off` is the word that keeps it
    from thinking. `bound_thinking` models check that nothing before a thinking block has changed.
    """

    provider: str
    id: str
    name: str
    context_window: int
    max_tokens: int
    thinking: str = "none"
    levels: tuple[str, ...] = ("off",)
    thinking_off: str = "disabled"
    bound_thinking: bool = False
    images: bool = False
    cost: Price = Price()
    tiers: tuple[PriceTier, ...] = ()

    @property
    def reasoning(self) -> bool:
        return self.thinking != "none"


_ALL = LEVELS
_WITHOUT_OFF = LEVELS[1:]
_UP_TO_HIGH = LEVELS[:5]

# Anthropic's models and prices as published on 2026-11-30. Newest of each kind first, then the ones before.
ANTHROPIC_MODELS = (
    ModelInfo(
        "anthropic", "claude-opus-5-5", "Claude Opus 5.5", 1_000_000, 128_000, "adaptive", _WITHOUT_OFF,
        bound_thinking=True, images=True, cost=Price(4, 20, 0.20, 5),
    ),
    ModelInfo(
        "anthropic", "claude-sonnet-5-5", "Claude Sonnet 5.5", 1_000_000, 128_000, "adaptive", _ALL,
        thinking_off="between_tools", bound_thinking=True, images=True, cost=Price(2, 10, 0.10, 2.5),
    ),
    ModelInfo(
        "anthropic", "claude-haiku-5-5", "Claude Haiku 5.5", 1_000_000, 128_000, "adaptive", _ALL,
        bound_thinking=True, images=True, cost=Price(0.10, 0.50, 0.01, 0.125),
        tiers=(PriceTier(100_000, Price(0.50, 2.50, 0.05, 0.625)),),
    ),
    ModelInfo(
        "anthropic", "claude-fable-5-2", "Claude Fable 5.2", 1_000_000, 128_000, "adaptive", _WITHOUT_OFF,
        bound_thinking=True, images=True, cost=Price(8, 40, 0.20, 10),
    ),
    ModelInfo(
        "anthropic", "claude-fable-5-1", "Claude Fable 5.1", 1_000_000, 128_000, "adaptive", _WITHOUT_OFF,
        bound_thinking=True, images=True, cost=Price(10, 50, 0.25, 12.5),
    ),
    ModelInfo(
        "anthropic", "claude-opus-5", "Claude Opus 5", 1_000_000, 128_000, "adaptive", _ALL,
        images=True, cost=Price(5, 25, 0.50, 6.25),
    ),
    ModelInfo(
        "anthropic", "claude-sonnet-5", "Claude Sonnet 5", 1_000_000, 128_000, "adaptive", _ALL,
        images=True, cost=Price(2, 10, 0.20, 2.5),
    ),
    ModelInfo(
        "anthropic", "claude-haiku-4-5", "Claude Haiku 4.5", 200_000, 64_000, "budget", _UP_TO_HIGH,
        images=True, cost=Price(1, 5, 0.10, 1.25),
    ),
)  # fmt: skip

DEMO_MODEL = ModelInfo("demo", "demo", "Demo model (offline script, not an AI)", 128_000, 16_384)
SCRIPTED_MODEL = ModelInfo("scripted", "scripted", "Scripted (tests)", 128_000, 16_384, images=True)

MODELS = (*ANTHROPIC_MODELS, DEMO_MODEL, SCRIPTED_MODEL)


def find_model(provider: str, model_id: str) -> ModelInfo | None:
    """The model of the catalogue; a dated id (`claude-haiku-4-5-20251001`) is found by its undated one."""
    for model in MODELS:
        if model.provider == provider and model_id in (model.id, f"{model.id}-{model_id[-8:]}"):
            return model if model.id == model_id else replace(model, id=model_id)
    return None


def describe_model(provider: str, model_id: str, **known: Any) -> ModelInfo:
    """A model somebody names: from the catalogue, else with the defaults of 06 §6, and `known` fields over both.

    A model nobody knows has a window of 128000, at most 16384 tokens of output, no images and costs nothing;
    for `anthropic` it thinks adaptively, as its newer models do.
    """
    model = find_model(provider, model_id)
    if model is None:
        model = ModelInfo(provider, model_id, model_id, 128_000, 16_384)
        if provider == "anthropic":
            model = replace(model, thinking="adaptive", levels=_WITHOUT_OFF, bound_thinking=True, images=True)
    return replace(model, **known)


def spoken_name(provider: str, model_id: str) -> str:
    """What a model is called where it speaks: the catalogue's name without what stands in brackets, else its id."""
    model = find_model(provider, model_id)
    return model.name.partition(" (")[0] if model else model_id


def clamp_level(level: str, model: ModelInfo) -> str:
    """The thinking level the model really uses: the next higher it knows, else the next lower (04 §6)."""
    wanted = LEVELS.index(level) if level in LEVELS else LEVELS.index("medium")
    known = [LEVELS.index(name) for name in model.levels]
    higher = [index for index in known if index >= wanted]
    if higher:
        return LEVELS[min(higher)]
    return LEVELS[max(known)] if known else "off"


def output_limit(model: ModelInfo, input_tokens: int, requested: int | None = None) -> int:
    """Tokens the answer may have so that it fits the window beside the input; at least 1 (04 §6)."""
    limit = min(requested or model.max_tokens, model.max_tokens)
    room = model.context_window - input_tokens - max(4096, -(-input_tokens * 15 // 100))
    if room < 32768:
        room = min(32768, model.context_window - input_tokens - 4096)
    return max(1, min(limit, room))


def cost_of(usage: Json, model: ModelInfo) -> Json:
    """The dollars of a stored usage: `{input, output, cacheRead, cacheWrite, total}` (04 §8).

    The highest tier exceeded by the whole input prices the whole request; one-hour cache writes cost twice
    the base input. A total the provider itself reported stays.
    """
    read, write = usage.get("cacheRead", 0), usage.get("cacheWrite", 0)
    long_write = min(usage.get("cacheWrite1h", 0), write)
    whole_input = usage.get("input", 0) + read + write
    price = model.cost
    for tier in sorted(model.tiers, key=lambda tier: tier.above):
        if whole_input > tier.above:
            price = tier.price
    million = 1_000_000
    cost: Json = {
        "input": usage.get("input", 0) * price.input / million,
        "output": usage.get("output", 0) * price.output / million,
        "cacheRead": read * price.cache_read / million,
        "cacheWrite": ((write - long_write) * price.cache_write + long_write * 2 * price.input) / million,
    }
    cost["total"] = sum(cost.values())
    reported = usage.get("cost")
    if isinstance(reported, dict) and reported.get("totalFromProvider"):
        cost["total"] = reported.get("total", cost["total"])
        cost["totalFromProvider"] = True
    return cost
