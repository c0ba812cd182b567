/** `rescore`: scores the kept groups of a run, or the groups of a dump file, again under other rules. */
import { createReadStream, existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import type { ApiClient } from '@reasoning-gym-server/cli/api-client'
import { CliError } from '@reasoning-gym-server/cli/cli-error'
import { CliCommand } from '@reasoning-gym-server/cli/command'
import { getInterruptSignal } from '@reasoning-gym-server/cli/interrupt-signal'
import { parseNumber, parseSetting } from '@reasoning-gym-server/cli/options'
import { heading, printJson, printLine, printStatus } from '@reasoning-gym-server/cli/output'
import { dropEmptyColumns, formatTable } from '@reasoning-gym-server/cli/table'
import type { WithServer } from '@reasoning-gym-server/cli/with-server'
import { readLines } from '@reasoning-gym-server/codec/json-lines'
import { Rescore, type RescoreResult } from '@reasoning-gym-server/contract/rescore'
import { type RunSettings, resolveSettings, SettingsChange } from '@reasoning-gym-server/contract/run-settings'
import { ScoreResponse } from '@reasoning-gym-server/contract/score'
import type { GroupVerdict } from '@reasoning-gym-server/contract/verdict'
import type { Command } from 'commander'
import type { DumpedGroup, DumpedRollout } from '../../features/dumps/dump-record.ts'
import { RescoreComparison } from '../../features/rescores/comparison.ts'
import { type GroupResult, gradeGroup } from '../../grading/group-advantages.ts'

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
      'Score the groups that a run keeps, or those of a dump file, again under other settings, and print what would differ. Nothing changes in the run. A dump file does not say under which settings it was written: name all scoring settings that are not defaults.',
    )
    .argument('<source>', 'name of a run, or a dump file, which may be compressed (.gz)')
    .argument('[settings...]', 'scoring settings to try, each as name=value')
    .option('--task <names...>', 'only groups of these tasks and categories (category:NAME) of a run')
    .option(
      '--sample <number>',
      'up to 1: share of the groups of a run; above 1: number of most recent ones',
      parseNumber,
    )
    .option('--json', 'print the result as JSON')
    .examples([
      'reasoning-gym-server rescore first scoring=hardened',
      'reasoning-gym-server rescore first extraction=last_tag advantage=mean_std --sample 1000',
      'reasoning-gym-server rescore data/data_dumps/FILE.jsonl preset=clean',
    ])
    .callServer(withServer, async (server, source: string, settings: string[], options: RescoreOptions) => {
      const change = Object.fromEntries(settings.map(parseSetting))
      const result = existsSync(source)
        ? await rescoreFile(server, source, change)
        : await rescoreRun(server, source, change, options)
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

/** Dumps hold only rollouts that counted, so that is what the groups are made of here. */
async function rescoreFile(server: ApiClient, file: string, change: Record<string, unknown>): Promise<RescoreResult> {
  const parsed = SettingsChange.safeParse(change)
  if (!parsed.success) throw new CliError(parsed.error.issues.map(({ message }) => message).join('. '), { exitCode: 2 })
  const settings = { ...resolveSettings(parsed.data), min_trained_tokens: 0 }
  const comparison = new RescoreComparison()
  for await (const { group_id: id, recipe, rollouts } of readGroups(file)) {
    const { extraction, stop, opens_thinking, dual_format, scoring } = settings
    const body = {
      rollouts: rollouts.map(({ conversation: messages }) => ({ recipe, messages })),
      extraction,
      stop,
      opens_thinking,
      dual_format,
      scoring,
    }
    const { verdicts = [] } = await server.callWithRetry(ScoreResponse, 'POST', '/score', body)
    if (verdicts.some(({ status }) => status === 'unscored')) comparison.leaveOut()
    else {
      const measures = rollouts.map(({ length_tokens, finish_reason }) => ({
        length: length_tokens ?? undefined,
        finish_reason,
      }))
      const after = gradeGroup(measures, verdicts, settings, false)
      comparison.add({ id, task: recipe.task, before: buildDumpedResult(rollouts, after, settings), after })
    }
  }
  return comparison.build(() => null)
}

/** The group as the file has it. What the file does not say is as in `after`. */
function buildDumpedResult(
  rollouts: DumpedRollout[],
  after: GroupResult,
  { signal_on }: Pick<RunSettings, 'signal_on'>,
): GroupResult {
  const verdicts = rollouts.map(({ score: reward, raw_score: score, advantage, answer, fault }) => {
    const fields = { status: 'scored', reward, score, answer, fault, advantage }
    return fields as GroupVerdict // as a server wrote them
  })
  const values = verdicts.filter((_, k) => after.verdicts[k]?.masked !== true).map((verdict) => verdict[signal_on])
  return { ...after, verdicts, signal: values.length === 1 || values.some((value) => value !== values[0]) }
}

async function* readGroups(file: string): AsyncGenerator<DumpedGroup> {
  const stream = createReadStream(file)
  let line = 0
  for await (const text of readLines(file.endsWith('.gz') ? stream.pipe(createGunzip()) : stream)) {
    line += 1
    try {
      const group = JSON.parse(text) as DumpedGroup
      if (Array.isArray(group.rollouts)) yield group
      else throw new Error('it has no rollouts')
    } catch (cause) {
      throw new CliError(`${file}, line ${line} is not a group of a dump file`, { cause })
    }
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
