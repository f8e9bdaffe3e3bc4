"""What is known of the models: sizes, prices, abilities."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One model of one provider.

    `context_window` and `max_tokens` are tokens. `thinking` is how the provider asks for it: none, budget,
    adaptive, or always (adaptive and not to be switched off). `levels` are the thinking levels it knows
    beside `off`, in rising order.
    """

    provider: str
    id: str
    name: str
    context_window: int
    max_tokens: int
    thinking: str = "none"
    levels: tuple[str, ...] = ()
    images: bool = False
    cost: Price = Price()
    tiers: tuple[PriceTier, ...] = ()

    @property
    def reasoning(self) -> bool:
        return self.thinking != "none"


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
