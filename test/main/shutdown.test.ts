import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { isProcessAlive } from '../../src/platform/process-state.ts'
import { until } from '../world.ts'

const RUN_MAIN = new URL('../../src/main/run-main.ts', import.meta.url).href

/** Never ends by itself, as if a process that it waits for hung. */
const PROGRAM = `
  import { spawn } from 'node:child_process'
  import { closeOnShutdown } from '${RUN_MAIN}'
  const hanging = spawn('sleep', ['600'])
  closeOnShutdown({ error() {} }, () => new Promise(() => {}), { graceMs: 100, abandon: () => hanging.kill('SIGKILL') })
  console.log(hanging.pid)
  setInterval(() => {}, 1000)
`

/** It loses its parent before it is ready to stop. */
const ORPHAN = `
  import { setTimeout as sleep } from 'node:timers/promises'
  import { closeOnShutdown } from '${RUN_MAIN}'
  while (process.connected) await sleep(10)
  closeOnShutdown({ error() {} }, async () => {})
  setInterval(() => {}, 1000)
`

it('a process whose parent was killed during its start stops', async () => {
  const orphan = spawn(process.execPath, ['--input-type=module', '-e', ORPHAN], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  onTestFinished(() => void orphan.kill('SIGKILL'))
  orphan.disconnect()
  expect(await once(orphan, 'exit')).toEqual([0, null])
})

it('a process whose time to stop is over ends what hangs', async () => {
  const program = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface({ input: program.stdout }), 'line')
  program.kill('SIGTERM')
  await once(program, 'exit')
  const isLeft = await until(
    async () => isProcessAlive(Number(line)),
    (alive) => !alive,
  )
  expect(isLeft).toBe(false)
})
