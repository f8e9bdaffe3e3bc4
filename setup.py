"""What pyproject.toml can't say: templates/ and static/ lie at the top of the repository and travel inside the package."""

from __future__ import annotations

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["agentweb*", "sessions_app*"]),
        "agentweb.templates",
        "agentweb.static",
    ],
    package_dir={"agentweb.templates": "templates", "agentweb.static": "static"},
    package_data={
        "agentweb.templates": ["**/*"],
        "agentweb.static": ["**/*"],
        "sessions_app": ["**/*.md", "**/*.txt", "**/*.jsonl", "**/*.json"],
    },
)
