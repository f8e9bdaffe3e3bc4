"""What a summary kept of the conversation it replaced: pure, deterministic, asking no model."""
