"""Writes a tiny llama model of random weights, each byte a token: `python random_model.py FILE WINDOW`. Needs `gguf`."""

from __future__ import annotations

import sys

import gguf
import numpy as np

VOCABULARY, WIDTH, HEADS, INNER = 260, 32, 2, 64


def main(path: str, window: int) -> None:
    dice = np.random.default_rng(0)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("random")
    writer.add_context_length(window)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(VOCABULARY)
    writer.add_file_type(0)
    bytes_ = [f"<0x{number:02X}>".encode() for number in range(256)]
    writer.add_tokenizer_model("llama")
    writer.add_token_list([b"<unk>", b"<s>", b"</s>", *bytes_, "▁".encode()])
    writer.add_token_scores([0.0] * VOCABULARY)
    kinds = gguf.TokenType
    writer.add_token_types([kinds.UNKNOWN, kinds.CONTROL, kinds.CONTROL, *[kinds.BYTE] * 256, kinds.NORMAL])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template(
        "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"
    )

    def add(name: str, *shape: int) -> None:
        values = np.ones(shape) if name.endswith("norm.weight") else dice.standard_normal(shape) * 0.02
        writer.add_tensor(name, values.astype(np.float32))

    add("token_embd.weight", VOCABULARY, WIDTH)
    add("output_norm.weight", WIDTH)
    add("output.weight", VOCABULARY, WIDTH)
    for name in ("attn_norm", "ffn_norm"):
        add(f"blk.0.{name}.weight", WIDTH)
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        add(f"blk.0.{name}.weight", WIDTH, WIDTH)
    add("blk.0.ffn_gate.weight", INNER, WIDTH)
    add("blk.0.ffn_up.weight", INNER, WIDTH)
    add("blk.0.ffn_down.weight", WIDTH, INNER)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
