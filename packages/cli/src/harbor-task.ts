/** An item as a task of Harbor: a folder with the instruction, the container and a test that asks the server for the score. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Item } from '@reasoning-gym-server/contract/item'

const DOCKERFILE = `FROM python:3.12-slim-bookworm
RUN useradd --create-home agent
WORKDIR /app
RUN chown agent /app
`

/**
 * The agent has no access to the test and the key: the verifier runs in a container of its own, which gets the answer
 * alone. It reads the address and the key of the server from the environment of the host: no file has them.
 */
const CONFIG = `schema_version = "1.2"
artifacts = ["/app/answer.txt"]

[metadata]
`

const LIMITS = `
[verifier]
environment_mode = "separate"
timeout_sec = 120.0

[verifier.env]
REASONING_GYM_URL = "\${REASONING_GYM_URL}"

[agent]
user = "agent"
timeout_sec = 600.0

[environment]
build_timeout_sec = 600.0
`

/** Writes no reward if the server cannot score the answer, so that Harbor reports an error instead of a 0. */
function buildTest(itemId: string): string {
  return `#!/bin/bash
set -euo pipefail
logs="\${REWARD_DIR:-/logs/verifier}"
rm -f "$logs/reward.txt" "$logs/reward.json"
python3 -I - "$logs/reward.txt" <<'PYTHON'
import json, os, sys, urllib.parse, urllib.request

url = urllib.parse.urlsplit(os.environ["REASONING_GYM_URL"])
headers = {"Content-Type": "application/json"}
if url.password:
    headers["Authorization"] = "Bearer " + urllib.parse.unquote(url.password)
address = urllib.parse.urlunsplit((url.scheme, url.netloc.rpartition("@")[2], url.path.rstrip("/") + "/score", "", ""))
try:
    with open(os.environ.get("ANSWER_FILE", "/app/answer.txt"), encoding="utf-8", errors="replace") as file:
        answer = file.read(1_000_000).strip()
except OSError:
    answer = ""
score = 0
if answer:
    body = json.dumps({"rollouts": [{"item_id": ${JSON.stringify(itemId)}, "answer": answer}]}).encode()
    with urllib.request.urlopen(urllib.request.Request(address, body, headers), timeout=60) as response:
        score = json.load(response)["verdicts"][0]["score"]
    if score is None:
        raise SystemExit("the server could not score the answer")
with open(sys.argv[1], "w") as file:
    file.write(str(score))
PYTHON
`
}

/** Writes the folder of a task below `folder`, and returns its name. */
export async function writeHarborTask(folder: string, item: Item, index: number): Promise<string> {
  const name = `${item.task.replaceAll('_', '-')}-${index.toString().padStart(5, '0')}`
  const files = {
    'instruction.md': `${item.question}\n\nWrite the final answer, and nothing else, to the file /app/answer.txt.\n`,
    'task.toml': `${CONFIG}item_id = ${JSON.stringify(item.id)}\ncategory = ${JSON.stringify(item.category)}\ntags = [${JSON.stringify(item.task)}]\n${LIMITS}`,
    'environment/Dockerfile': DOCKERFILE,
    'tests/test.sh': buildTest(item.id),
  }
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, name, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text, { mode: path.endsWith('.sh') ? 0o755 : 0o644 })
  }
  return name
}
