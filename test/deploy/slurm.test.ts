/** deploy/slurm/train.sbatch on one machine, with shell functions in place of Slurm's scontrol and srun. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { getFreePort } from '../../verification/support/with-server.ts'
import { until } from '../world.ts'
import { ROOT } from './files.ts'

const SCONTROL = `#!/bin/bash
[ "$*" = "show hostnames nodes[1-3]" ] && printf '%s\\n' localhost node-2 node-3
`
/** Starts the command once for each node, and forwards SIGTERM. */
const SRUN = `#!/bin/bash
pids=()
while [[ $1 == --* ]]; do
  case $1 in --nodelist=*) list=\${1#*=} ;; esac
  shift
done
trap 'kill -TERM "\${pids[@]}"' TERM
for node in \${list//,/ }; do SLURMD_NODENAME=$node "$@" & pids+=($!); done
status=0
for pid in "\${pids[@]}"; do
  while kill -0 "$pid" 2> /dev/null; do wait "$pid"; status=$?; done
  wait "$pid"; status=$?
done
exit $status
`

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rgs-slurm-'))
  for (const [name, script] of Object.entries({ scontrol: SCONTROL, srun: SRUN }))
    writeFileSync(join(folder, name), script, { mode: 0o755 })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function submit(trainer: string) {
  const port = await getFreePort()
  const env = {
    ...process.env,
    PATH: `${folder}:${process.env.PATH}`,
    SLURM_JOB_NODELIST: 'nodes[1-3]',
    SLURM_SUBMIT_DIR: folder,
    GYM_SERVER: fileURLToPath(new URL('bin/reasoning-gym-server.js', ROOT)),
    PORT: String(port),
    API_PROCESSES: '1',
    WORKERS: '1',
    PYTHONPATH: fileURLToPath(new URL('clients/python', ROOT)),
  }
  const job = spawn('bash', [fileURLToPath(new URL('deploy/slurm/train.sbatch', ROOT)), 'bash', '-c', trainer], {
    env,
    cwd: folder,
  })
  const ended = Promise.all([
    text(job.stdout),
    text(job.stderr),
    new Promise<number | null>((resolve) => job.once('close', resolve)),
  ])
  const isServed = () =>
    fetch(`http://127.0.0.1:${port}/livez`).then(
      () => true,
      () => false,
    )
  return { job, ended, isServed }
}

it('the trainer runs on the other nodes with a key, and the job ends with its status', {
  timeout: 180_000,
}, async () => {
  const program = `from reasoning_gym_client import Client
client = Client()
item = client.make("leg_counting", seed=42)[0]
print(client.score([{"item_id": item["id"], "answer": "100"}])["rewards"], client.whoami()["role"])`
  const { ended, isServed } = await submit(`echo "$SLURMD_NODENAME: $(python3 -c '${program}')"; exit 7`)
  const [output, errors, status] = await ended
  const said = output.split('\n').filter((line) => line.startsWith('node-'))
  expect([said.toSorted(), errors]).toEqual([['node-2: [1] trainer', 'node-3: [1] trainer'], expect.anything()])
  expect(status).toBe(7)
  expect(await isServed()).toBe(false)
})

it('at the time limit, trainer and server end', { timeout: 180_000 }, async () => {
  const { job, ended, isServed } = await submit('touch started; exec sleep 600')
  await until(
    () => Promise.resolve(existsSync(join(folder, 'started'))),
    (started) => started,
    120_000,
  )
  expect(await isServed()).toBe(true)
  job.kill('SIGTERM')
  const [, , status] = await ended
  expect(status).toBe(143)
  expect(await isServed()).toBe(false)
})
