"""Model servers that are not ours, from a package index: each in an environment of its own below `.data`, on the loopback.

LiteLLM's proxy translates; fakellm speaks both families of APIs by rules; llama.cpp's server runs a real, if random, model.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
import venv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

FOLDER = Path(__file__).parent.parent / ".data" / "providers-check"
KEY = "sk-providers-check"
LITELLM = "litellm[proxy]==1.108.7"
FAKELLM = "fakellm==0.3.5"
LLAMA = "llama-cpp-python[server]==0.3.36"
GGUF = "gguf==0.19.0"
# Room for the instructions, the tools and an answer, though every byte of it is a token.
LLAMA_WINDOW = 65_536


def installed(*packages: str) -> Path:
    """The Python of an environment with these packages; other versions are another environment."""
    name = "-".join(part.replace("==", "-").replace("[", "-").replace("]", "") for part in packages)
    home = FOLDER / name
    if not (home / "ready").exists():
        print(f"Installing {' and '.join(packages)} into {home} (once, some minutes)", file=sys.stderr)
        shutil.rmtree(home, ignore_errors=True)
        venv.create(home, with_pip=True)
        pip = [str(home / "bin" / "python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        subprocess.run([*pip, *packages], check=True)
        (home / "ready").touch()
    return home / "bin" / "python"


@contextlib.contextmanager
def litellm(folder: Path, service: str, mocks: Mapping[str, str], behind: Sequence[str]) -> Iterator[str]:
    """The address of its API: `mocks` answers itself, `behind` are models of `service`, which speaks Anthropic's API."""
    program = installed(LITELLM).with_name("litellm")
    own = {
        name: {"model": f"openai/{name}", "api_key": "none", "mock_response": text}
        for name, text in mocks.items()
    }
    translated = {
        name: {"model": f"anthropic/{name}", "api_key": "none", "api_base": service} for name in behind
    }
    config = {
        "model_list": [{"model_name": name, "litellm_params": to} for name, to in (own | translated).items()],
        "litellm_settings": {"num_retries": 0, "telemetry": False, "drop_params": True},
        "general_settings": {"master_key": KEY},
    }
    (folder / "proxy.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    port = free_port()
    command = [str(program), "--config", "proxy.yaml", "--host", "127.0.0.1", "--port", str(port)]
    # Its list of prices would come from the network.
    with running(command, folder, port, "/health/liveliness", LITELLM_LOCAL_MODEL_COST_MAP="True"):
        yield f"http://127.0.0.1:{port}/v1"


@contextlib.contextmanager
def fakellm(folder: Path, rules: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """The address of the server, which speaks Anthropic's API there and chat completions below `/v1`."""
    program = installed(FAKELLM).with_name("fakellm")
    config = {"version": 1, "defaults": {"fallback": "deterministic_echo"}, "rules": list(rules)}
    (folder / "fakellm.yaml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    port = free_port()
    command = [str(program), "serve", "--host", "127.0.0.1", "--port", str(port), "--config", "fakellm.yaml"]
    with running(command, folder, port, "/_fakellm/stats"):
        yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def llama(folder: Path, model: str) -> Iterator[str]:
    """The address of its API, with a model of random weights that says nothing of sense."""
    python = installed(LLAMA, GGUF)
    script = Path(__file__).parent / "random_model.py"
    subprocess.run([str(python), str(script), "random.gguf", str(LLAMA_WINDOW)], cwd=folder, check=True)
    port = free_port()
    command = [
        str(python), "-m", "llama_cpp.server", "--model", "random.gguf", "--model_alias", model,
        "--n_ctx", str(LLAMA_WINDOW), "--host", "127.0.0.1", "--port", str(port),
    ]  # fmt: skip
    with running(command, folder, port, "/v1/models"):
        yield f"http://127.0.0.1:{port}/v1"


@contextlib.contextmanager
def running(command: Sequence[str], folder: Path, port: int, path: str, **variables: str) -> Iterator[None]:
    """The server until the end of the block; what it said is in `server-<port>.log`."""
    log = folder / f"server-{port}.log"
    with open(log, "wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **variables},
            stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        )  # fmt: skip
        try:
            wait_until_alive(f"http://127.0.0.1:{port}{path}", process, log)
            yield
        finally:
            process.terminate()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def wait_until_alive(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while True:
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=5) as answer:
            if answer.status == 200:
                return
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"The server did not start:\n{log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.5)
