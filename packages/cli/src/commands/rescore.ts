/** `rescore`: scores the kept groups of a run again under other rules. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Rescore, type RescoreResult } from '@reasoning-gym-server/contract/rescore'
import type { Command } from 'commander'
import type { ApiClient } from '../api-client.ts'
import { CliError } from '../cli-error.ts'
import { CliCommand } from '../command.ts'
import { getInterruptSignal } from '../interrupt-signal.ts'
import { parseNumber, parseSetting } from '../options.ts'
import { heading, printJson, printLine, printStatus } from '../output.ts'
import { dropEmptyColumns, formatTable } from '../table.ts'
import type { WithServer } from '../with-server.ts'

interface RescoreOptions {
  task?: string[]
  sample?: number
  json?: true
}

const POLL_INTERVAL_MS = 300
const STATUS_INTERVAL_MS = 5000

export function buildRescoreCommand(withServer: WithServer): Command {
  return new CliCommand('rescore')
    .description(
      'Score the groups that a run keeps again under other settings, and print what would differ. Nothing changes in the run.',
    )
    .argument('<run>', 'name of the run')
    .argument('[settings...]', 'scoring settings to try, each as name=value')
    .option('--task <names...>', 'only groups of these tasks and categories (category:NAME)')
    .option('--sample <number>', 'up to 1: share of the groups; above 1: number of most recent ones', parseNumber)
    .option('--json', 'print the result as JSON')
    .examples([
      'reasoning-gym-server rescore first scoring=hardened',
      'reasoning-gym-server rescore first extraction=last_tag advantage=mean_std --sample 1000',
    ])
    .callServer(withServer, async (server, run: string, settings: string[], options: RescoreOptions) => {
      const result = await rescoreRun(server, run, Object.fromEntries(settings.map(parseSetting)), options)
      await (options.json ? printJson(result) : printResult(result))
    })
}

async function rescoreRun(
  server: ApiClient,
  run: string,
  settings: Record<string, unknown>,
  { task: tasks, sample }: RescoreOptions,
): Promise<RescoreResult> {
  const path = `/runs/${encodeURIComponent(run)}/rescore`
  const { id } = await server.callWithRetry(Rescore, 'POST', path, { settings, tasks, sample })
  let saidAt = performance.now()
  for (;;) {
    const { status, progress, detail, result } = await server.call(Rescore, 'GET', `${path}/${id}`)
    if (result) return result
    if (status === 'failed') throw new CliError(`The rescore failed: ${detail ?? 'the server does not say why'}`)
    if (performance.now() - saidAt > STATUS_INTERVAL_MS) {
      saidAt = performance.now()
      printStatus(`${progress.done} of ${progress.total} groups`)
    }
    await sleep(POLL_INTERVAL_MS, undefined, { signal: getInterruptSignal() })
  }
}

const HEAD = [
  'task',
  'groups',
  'rollouts',
  'rewards changed',
  'mean change',
  'gain signal',
  'lose signal',
  'advantages flipped',
  'difficulty',
]

async function printResult(result: RescoreResult): Promise<void> {
  const rows = Object.entries(result.tasks).map(([task, counts]) => formatRow(task, counts, counts.difficulty))
  rows.push(formatRow('all', result, null))
  await printLine(formatTable(...dropEmptyColumns(HEAD, rows)))
  if (isUnchanged(result)) await printLine('\nNothing differs')
  if (result.left_out > 0) await printLine(`\n${result.left_out} groups could not be scored again`)
  const [example] = result.examples
  if (!example) return
  await printLine(`\n${heading('Example')}  group ${example.group_id}, rollout ${example.rollout} of ${example.task}`)
  for (const [name, { reward, answer, fault }] of [
    ['before', example.before],
    ['after', example.after],
  ] as const)
    await printLine(`  ${name.padEnd(6)}  reward ${reward}  ${fault ?? JSON.stringify(answer)}`)
}

function isUnchanged({ rewards_changed, groups_gaining_signal, groups_losing_signal, advantages_flipped }: Counts) {
  return rewards_changed + groups_gaining_signal + groups_losing_signal + advantages_flipped === 0
}

type Counts = Omit<RescoreResult, 'tasks' | 'examples' | 'left_out'>

function formatRow(task: string, counts: Counts, difficulty: { before: number; after: number } | null) {
  return [
    task,
    counts.groups,
    counts.rollouts,
    counts.rewards_changed,
    counts.mean_change === null || counts.rewards_changed === 0 ? '–' : counts.mean_change.toFixed(3),
    counts.groups_gaining_signal,
    counts.groups_losing_signal,
    counts.advantages_flipped,
    difficulty ? `${difficulty.before.toFixed(2)} → ${difficulty.after.toFixed(2)}` : '–',
  ]
}
