#!/usr/bin/env python
"""Django's own command line, for those who know it; `agentweb` is the product's."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentweb.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
