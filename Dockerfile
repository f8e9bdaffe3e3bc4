# agentweb with the tools that agents use most. Commands of agents run inside the container, as its user.
FROM python:3.12-slim

RUN apt-get update \
    && apt-get install --yes --no-install-recommends bash fd-find git ripgrep \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /app
COPY requirements ./requirements
RUN pip install --no-cache-dir --require-hashes -r requirements/build.txt \
    && pip install --no-cache-dir --require-hashes -r requirements/base.txt

COPY . .
RUN pip install --no-cache-dir --no-build-isolation --no-deps -e . \
    && useradd --create-home --uid 1000 agentweb \
    && mkdir -p /data /workspaces \
    && chown agentweb:agentweb /data /workspaces

USER agentweb
ENV AGENTWEB_DATA=/data AGENTWEB_ROOTS=/workspaces AGENTWEB_HOST=0.0.0.0 PYTHONUNBUFFERED=1
VOLUME ["/data", "/workspaces"]
EXPOSE 8420

# For `agentweb up` and `agentweb web`; compose.yaml turns it off for the other services.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import sys; from agentweb.addresses import pages_answer; sys.exit(not pages_answer('0.0.0.0', 8420))"]

CMD ["agentweb", "up"]
