# One image for all roles: `node src/serve.ts` (default), `node src/api.ts`, `node src/worker.ts`.
FROM node:24-bookworm-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-venv && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional
COPY requirements.txt ./
RUN python3 -m venv .venv \
 && .venv/bin/pip install --no-cache-dir --require-hashes --no-deps -r requirements.txt \
 && sha256sum requirements.txt | cut -d' ' -f1 | tr -d '\n' > .venv/.installed-requirements.txt
COPY . .

FROM node:24-bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends python3 redis-server && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build --chown=node:node /app /app
RUN mkdir /data && chown node:node /data
USER node
ENV DATA_DIR=/data HOST=0.0.0.0 NODE_ENV=production
EXPOSE 8000
VOLUME /data
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8000) + '/livez').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/serve.ts"]
