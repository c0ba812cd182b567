/** `demo`: trains a simulated model on a new run and shows its progress. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartedDemo } from '@reasoning-gym-server/contract/demo'
import { Run } from '@reasoning-gym-server/contract/run'
import type { Command } from 'commander'
import { z } from 'zod'
import type { ApiClient } from '../api-client.ts'
import { CliError } from '../cli-error.ts'
import { CliCommand } from '../command.ts'
import { getInterruptSignal } from '../interrupt-signal.ts'
import { appendValue, integerParser } from '../options.ts'
import { link, printLine, printStatus } from '../output.ts'
import type { ServerOptions, WithServer } from '../with-server.ts'

const POLL_INTERVAL_MS = 1000
/** A demo whose server stopped makes no progress. */
const STALL_TIMEOUT_MS = 90_000
const MAX_STEPS = 200

interface DemoOptions extends ServerOptions {
  steps: number
  task?: string[]
  once?: true
}

const StepMetrics = z.looseObject({
  step: z.int(),
  'score/frac_correct': z.number().nullish(),
  'signal/frac': z.number().nullish(),
  'length/mean': z.number().nullish(),
})
type StepMetrics = z.infer<typeof StepMetrics>

export function buildDemoCommand(withServer: WithServer): Command {
  return new CliCommand('demo')
    .description(
      'Train a simulated model on a new run, and print the progress of each step and the address of the run’s page on the dashboard. If no server is running, the command starts one and keeps it until Ctrl-C.',
    )
    .option('--steps <count>', `number of training steps, at most ${MAX_STEPS}`, integerParser(1), 40)
    .option(
      '--task <name>',
      'task to train on, such as one of your own; repeat the option for several (default: eight tasks of the library)',
      appendValue,
    )
    .option('--once', 'stop a server that was started for the demo when the demo ends')
    .examples([
      'reasoning-gym-server demo',
      'reasoning-gym-server demo --steps 10 --once',
      'reasoning-gym-server demo --task my_task',
    ])
    .action((options: DemoOptions) =>
      withServer(options, { keeps: true, usesConfiguredPort: true }, (server) => runDemo(server, options)),
    )
    .addServerOptions()
}

async function runDemo(server: ApiClient, { steps, task: tasks, once: stopsAtEnd }: DemoOptions): Promise<void> {
  const { run } = await server.call(StartedDemo, 'POST', '/demo', { steps, ...(tasks && { tasks }) })
  const page = link(`${server.url}/#/runs/${run}`)
  await printLine(`The run ${run} trains a simulated model for ${steps} steps. Watch it at ${page}`)
  const metrics = await followSteps(server, run, steps)
  const first = metrics[0]
  const last = metrics.at(-1)
  if (first && last)
    await printLine(
      `Done: ${metrics.length} steps. Correct answers: ${formatShare(first['score/frac_correct'])} in the first step, ${formatShare(last['score/frac_correct'])} in the last, while the difficulty followed the model.`,
    )
  if (!server.isTemporary || stopsAtEnd) return
  printStatus(`The server stays at ${server.url}. Ctrl-C stops it.`)
  const signal = getInterruptSignal()
  if (!signal.aborted) await once(signal, 'abort')
}

/** Prints a line per step until all steps are done. */
async function followSteps(server: ApiClient, run: string, steps: number): Promise<StepMetrics[]> {
  const seen: StepMetrics[] = []
  let heardAt = performance.now()
  while (seen.length < steps) {
    await sleep(POLL_INTERVAL_MS, undefined, { signal: getInterruptSignal() })
    for (const line of await readFinishedSteps(server, run, seen.length)) {
      seen.push(line)
      await printLine(formatStep(line, steps))
      heardAt = performance.now()
    }
    if (performance.now() - heardAt > STALL_TIMEOUT_MS)
      throw new CliError(
        `The demo made no progress for ${STALL_TIMEOUT_MS / 1000} s. The log of the server has the reason`,
      )
  }
  return seen
}

/** A step is complete when the next one has begun or the run is finished. */
async function readFinishedSteps(server: ApiClient, run: string, from: number): Promise<StepMetrics[]> {
  const { lifecycle } = await server.call(Run.pick({ lifecycle: true }), 'GET', `/runs/${run}`)
  const text = await (await server.request('GET', `/runs/${run}/metrics?from=${from}`)).text()
  const lines = text.split('\n').filter((line) => line !== '')
  const steps = lines.map((line) => StepMetrics.parse(JSON.parse(line)))
  return lifecycle === 'finished' ? steps : steps.slice(0, -1)
}

function formatStep(line: StepMetrics, steps: number): string {
  const step = `${line.step + 1}/${steps}`.padStart(String(steps).length * 2 + 1)
  const tokens = Math.round(line['length/mean'] ?? 0)
  return `step ${step}   correct ${formatShare(line['score/frac_correct'])}   groups with signal ${formatShare(line['signal/frac'])}   ${tokens} tokens`
}

const formatShare = (share: number | null | undefined) => `${Math.round((share ?? 0) * 100)}%`
