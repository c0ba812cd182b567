# One image for all roles: `docker run IMAGE serve` (the default), `api`, `worker`, or any other command of docs/reference/cli.md.
# To pin the base images by digest: --build-arg BUILD_IMAGE=node:24.21.0-bookworm-slim@sha256:… --build-arg RUN_IMAGE=debian:bookworm-slim@sha256:…
ARG BUILD_IMAGE=node:24.21.0-bookworm-slim
ARG RUN_IMAGE=debian:bookworm-slim

FROM ${BUILD_IMAGE} AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages packages
COPY bin bin
RUN npm ci --omit=dev --omit=optional --no-audit
# The stamp tells the server that the environment is complete. The image does not need pip at runtime.
COPY requirements.txt ./
RUN python3 -m venv .venv \
 && .venv/bin/python -m pip install --no-cache-dir --disable-pip-version-check --require-hashes --no-deps -r requirements.txt \
 && .venv/bin/python -m pip uninstall --quiet --yes pip \
 && sha256sum requirements.txt | cut -d' ' -f1 | tr -d '\n' > .venv/.installed-requirements.txt
COPY LICENSE ./
COPY suites suites
COPY routes routes
COPY src src

FROM ${RUN_IMAGE}
# tini is process 1 and reaps the children of killed Python processes. redis-server is for `serve` without REDIS_URL.
RUN apt-get update \
 && apt-get install -y --no-install-recommends libatomic1 libstdc++6 python3 redis-server tini \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --no-create-home --home-dir /tmp gym \
 && install -d -o gym -g gym /data
COPY --from=build /usr/local/bin/node /usr/local/bin/node
# Owned by root, so that the user of the server cannot change it.
COPY --from=build /app /app
WORKDIR /app
USER 10001
# One heap of the C library for all threads of a process, as src/main/child-processes.ts explains.
ENV NODE_ENV=production HOME=/tmp DATA_DIR=/data HOST=0.0.0.0 MALLOC_ARENA_MAX=1
EXPOSE 8000 8001
VOLUME /data
# Works for every role: requests the port of the API and that of the worker, and needs one of them to answer.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["node", "bin/healthy.js"]
ENTRYPOINT ["tini", "--", "node", "--max-semi-space-size=32", "--disable-warning=ExperimentalWarning", "bin/reasoning-gym-server.js"]
CMD ["serve"]
