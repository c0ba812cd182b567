/** `runs`: lists, shows, changes, saves, restores, rewinds, forks and deletes training runs. */

import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { Flow } from '@reasoning-gym-server/contract/flow'
import { Run, RunPage, RunState } from '@reasoning-gym-server/contract/run'
import { Rewind, RunLifecycleChange, RunMix } from '@reasoning-gym-server/contract/run-control'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import type { ApiClient } from '../api-client.ts'
import { CliError } from '../cli-error.ts'
import { CliCommand } from '../command.ts'
import { integerParser, parseSetting, parseValue } from '../options.ts'
import { printJson, printLine, printNext, printStatus, streamBodyToStdout } from '../output.ts'
import { printRun, printRunList } from '../run-tables.ts'
import { formatFacts } from '../table.ts'
import type { ServerOptions, WithServer } from '../with-server.ts'
import { buildRunGroupsCommand } from './run-groups.ts'

interface RunsOptions extends ServerOptions {
  json?: true
  restart?: true
  archived?: true
  search?: string
  state?: string
  warnings?: true
  limit: number
  step?: number
  resumeId?: string
}

const RunChange = z.object({ changed: z.array(z.string()), restarts: z.array(z.string()) })

const NO_RUN =
  'There is no run yet. "reasoning-gym-server runs set NAME" creates one, and so does the first request of a trainer'

export function buildRunsCommand(withServer: WithServer): Command {
  const runs = new CliCommand('runs')
    .description(
      'Manage the training runs on a server. A run holds the settings, item sequence, curriculum, buffer and statistics of one training run.',
    )
    .examples([
      'reasoning-gym-server runs list',
      'reasoning-gym-server runs show first',
      'reasoning-gym-server runs set first preset=clean group_size=8 \'tasks=["category:games"]\'',
      'reasoning-gym-server runs delete first',
    ])
    .addCommand(buildRunListCommand(withServer))
    .addCommand(buildRunShowCommand(withServer))
    .addCommand(buildRunGroupsCommand(withServer))
    .addCommand(buildRunSetCommand(withServer))
    .addCommand(buildRunMixCommand(withServer))
    .addCommand(buildRunFlowCommand(withServer))
    .addCommand(buildRunSaveCommand(withServer))
    .addCommand(buildRunRestoreCommand(withServer))
    .addCommand(buildRunRewindCommand(withServer))
    .addCommand(buildRunForkCommand(withServer))
    .addCommand(buildRunResetCurriculumCommand(withServer))
    .addCommand(buildRunDeleteCommand(withServer))
  for (const command of buildRunLifecycleCommands(withServer)) runs.addCommand(command)
  return runs
}

/** A command on one run. */
function createRunCommand(command: string): CliCommand {
  return new CliCommand(command).argument('<run>', 'name of the run')
}

function buildRunListCommand(withServer: WithServer): Command {
  return new CliCommand('list')
    .summary('List all runs')
    .description('List runs, the last used first, with their state and the number of items, groups and rollouts.')
    .option('--search <words>', 'list only runs with these words in the name or the settings, such as tags')
    .addOption(new Option('--state <state>', 'list only runs in this state').choices(RunState.shape.is.options))
    .option('--warnings', 'list only runs with warnings')
    .option('--archived', 'include archived runs')
    .option('--limit <count>', 'number of runs to list', integerParser(1), 50)
    .option('--json', 'print JSON')
    .examples(['reasoning-gym-server runs list', 'reasoning-gym-server runs list --search ablation --warnings'])
    .callServer(withServer, async (server, options: RunsOptions) => {
      const { runs, total } = await listRuns(server, options)
      if (options.json) return printJson({ runs, total })
      if (total === 0 && options.search === undefined) return printStatus(NO_RUN)
      if (runs.length > 0) await printRunList(runs)
      if (runs.length < total) printStatus(`Runs: ${runs.length} of ${total}`)
      if (runs.length === 0) return
      printNext(server, { next: `reasoning-gym-server runs show ${runs[0]?.run}` })
    })
}

/** Reads pages up to the limit. */
async function listRuns(server: ApiClient, options: RunsOptions): Promise<Pick<RunPage, 'runs' | 'total'>> {
  const { archived, search, state, warnings, limit } = options
  const query = new URLSearchParams({ sort: 'activity', limit: String(Math.min(limit, 200)) })
  for (const [name, value] of Object.entries({ archived, q: search, state, has_warnings: warnings }))
    if (value !== undefined) query.set(name, String(value))
  const runs: RunPage['runs'] = []
  for (;;) {
    const page = await server.call(RunPage, 'GET', `/runs?${query.toString()}`)
    runs.push(...page.runs)
    if (page.next_cursor === null || runs.length >= limit) return { runs: runs.slice(0, limit), total: page.total }
    query.set('cursor', page.next_cursor)
  }
}

function buildRunShowCommand(withServer: WithServer): Command {
  return createRunCommand('show')
    .summary('Show one run')
    .description('Show a run’s state, progress and settings, and the statistics of each task.')
    .option('--json', 'print the server’s JSON response')
    .examples(['reasoning-gym-server runs show first'])
    .callServer(withServer, async (server, name: string, options: RunsOptions) => {
      const run = await server.call(Run, 'GET', getRunPath(name))
      if (options.json) return printJson(run)
      await printRun(run, await listChangedSettings(run.settings))
      printNext(server, {
        page: `/runs/${encodeURIComponent(name)}`,
        next: `reasoning-gym-server eval --model NAME --base-url URL --suite run --run ${name}`,
      })
    })
}

function buildRunSetCommand(withServer: WithServer): Command {
  return createRunCommand('set')
    .summary('Create a run or change its settings')
    .description(
      'Create a run or change its settings (docs/reference/run-settings.md). The command reads each value as JSON, or as text if it is not valid JSON. null restores the default.',
    )
    .argument('[settings...]', 'settings to change, each as name=value')
    .option('--restart', 'restart the item sequence if the seed or the tasks change')
    .option('--json', 'print the server’s JSON response')
    .examples([
      'reasoning-gym-server runs set first preset=clean group_size=8',
      'reasoning-gym-server runs set first \'tasks=["category:games"]\'',
      'reasoning-gym-server runs set first seed=7 --restart',
    ])
    .callServer(withServer, async (server, name: string, settings: string[], options: RunsOptions) => {
      const body = Object.fromEntries(settings.map(parseSetting))
      const run = await server.call(
        RunChange,
        'PUT',
        `${getRunPath(name)}${options.restart ? '?restart=true' : ''}`,
        body,
      )
      if (options.json) return printJson(run)
      await printLine(run.changed.length === 0 ? 'No setting changed' : `Changed: ${run.changed.join(', ')}`)
      if (run.restarts.length > 0) await printLine(`The item sequence restarted because of: ${run.restarts.join(', ')}`)
    })
}

const RunMixes = z.object({ mixes: z.array(RunMix) })

function buildRunMixCommand(withServer: WithServer): Command {
  return createRunCommand('mix')
    .summary('Change or list the tasks of a run in progress')
    .description(
      'Change the tasks of a run from the next item on. Items that were handed out stay as they are. Without tasks, list the mixes that the run has used.',
    )
    .argument('[tasks]', 'all tasks of the new mix, as JSON')
    .option('--json', 'print the server’s JSON response')
    .examples([
      'reasoning-gym-server runs mix first \'["gcd", { "task": "lcm", "weight": 2, "difficulty": [0.2, 0.6] }]\'',
      'reasoning-gym-server runs mix first',
    ])
    .callServer(withServer, async (server, run: string, tasks: string | undefined, { json }: RunsOptions) => {
      const path = getRunPath(run)
      if (tasks !== undefined) await server.call(z.unknown(), 'PATCH', path, { mix: { tasks: parseValue(tasks) } })
      const { mixes } = await server.call(RunMixes, 'GET', `${path}/mixes`)
      if (json) return printJson({ mixes })
      for (const { position, at, tasks: used } of tasks === undefined ? mixes : mixes.slice(-1))
        await printLine(`From position ${position} (${at}): ${JSON.stringify(used)}`)
    })
}

function buildRunFlowCommand(withServer: WithServer): Command {
  return createRunCommand('flow')
    .summary('Show which side of a run waits')
    .description(
      'Show how groups flow from the generators of a run to its trainer over the last 64 batches: which side waits, how stale the groups are, and what to change.',
    )
    .option('--json', 'print the server’s JSON response')
    .examples(['reasoning-gym-server runs flow first'])
    .callServer(withServer, async (server, run: string, { json }: RunsOptions) => {
      const flow = await server.call(Flow, 'GET', `${getRunPath(run)}/flow`)
      if (json) return printJson(flow)
      await printLine(flow.advice.text)
      if (flow.batches === 0) return
      const { staleness, untrained_tokens: untrained } = flow
      const known = (value: number | null, digits: number) => value?.toFixed(digits) ?? '-'
      const facts: [string, string][] = [
        ['batches per minute', (60 * flow.rates.batches).toFixed(2)],
        ['groups per minute', (60 * flow.rates.groups).toFixed(2)],
        ['trainer waits', `${(100 * flow.trainer_waiting).toFixed(0)}%`],
        ['generators wait', `${(100 * flow.generators_waiting).toFixed(0)}%`],
        ['staleness', `${known(staleness.measured, 2)}, predicted ${known(staleness.predicted, 2)}`],
        ['tokens never trained', untrained === null ? '-' : `${(100 * untrained).toFixed(0)}%`],
      ]
      await printLine(formatFacts(facts))
    })
}

function buildRunDeleteCommand(withServer: WithServer): Command {
  return createRunCommand('delete')
    .summary('Delete a run')
    .description('Delete a run and everything that the server holds for it. The run’s dump files remain.')
    .examples(['reasoning-gym-server runs delete first'])
    .callServer(withServer, async (server, name: string) => {
      await server.request('DELETE', getRunPath(name))
      await printLine(`Deleted run ${name}`)
    })
}

function getRunPath(run: string): string {
  return `/runs/${encodeURIComponent(run)}`
}

const LIFECYCLE_COMMANDS = [
  {
    name: 'finish',
    lifecycle: 'finished',
    summary: 'Mark a run as finished',
    description: 'Mark a run as finished, so that it never counts as stalled. It is active again when rollouts arrive.',
  },
  {
    name: 'archive',
    lifecycle: 'archived',
    summary: 'Hide a finished run',
    description: 'Mark a run as archived, which hides it from the list of runs. Nothing is deleted.',
  },
  { name: 'reopen', lifecycle: 'active', summary: 'Make a run active again', description: 'Make a run active again.' },
] as const

/** `runs finish`, `runs archive` and `runs reopen`: say whether a run is still in use. */
function buildRunLifecycleCommands(withServer: WithServer): Command[] {
  return LIFECYCLE_COMMANDS.map(({ name, lifecycle, summary, description }) =>
    createRunCommand(name)
      .summary(summary)
      .description(description)
      .option('--json', 'print the server’s JSON response')
      .examples([`reasoning-gym-server runs ${name} first`])
      .callServer(withServer, async (server, run: string, { json }: RunsOptions) => {
        const response = await server.call(RunLifecycleChange, 'PATCH', getRunPath(run), { lifecycle })
        if (json) return printJson(response)
        await printLine(`Run ${run} is ${response.lifecycle}`)
      }),
  )
}

function buildRunResetCurriculumCommand(withServer: WithServer): Command {
  return createRunCommand('reset-curriculum')
    .summary('Start the difficulty of all tasks again')
    .description(
      'Start the difficulty of all tasks again, because the policy has changed. The item sequence continues.',
    )
    .option('--json', 'print the server’s JSON response')
    .examples(['reasoning-gym-server runs reset-curriculum first'])
    .callServer(withServer, async (server, run: string, { json }: RunsOptions) => {
      const response = await server.call(z.looseObject({}), 'POST', `${getRunPath(run)}/curriculum-reset`)
      if (json) return printJson(response)
      await printLine(`The curriculum of run ${run} starts again`)
    })
}

function buildRunRewindCommand(withServer: WithServer): Command {
  return createRunCommand('rewind')
    .summary('Rewind a run to a step')
    .description(
      'Make a run what it was after a step, one of the last 1,000. Later groups no longer count, and the buffer is empty.',
    )
    .argument('<step>', 'step that the run returns to', integerParser())
    .option('--resume-id <id>', 'ID of this resume: of the calls with an ID, the first one rewinds the run')
    .option('--json', 'print the server’s JSON response')
    .examples(['reasoning-gym-server runs rewind first 120'])
    .callServer(withServer, async (server, run: string, step: number, { json, resumeId }: RunsOptions) => {
      const body = { step, ...(resumeId !== undefined && { resume_id: resumeId }) }
      const response = await server.call(Rewind, 'POST', `${getRunPath(run)}/rewind`, body)
      if (json) return printJson(response)
      const { voided } = response
      if (!voided) return printLine(`Run ${run} is at step ${step} already`)
      await printLine(`Run ${run} is at step ${step} again. Groups that no longer count: ${voided.groups}`)
    })
}

function buildRunForkCommand(withServer: WithServer): Command {
  return createRunCommand('fork')
    .summary('Create a run from the state of another one')
    .description(
      'Create a run with the state that another one has, or had after a step, under other settings if you give any. Settings are written as in `runs set`.',
    )
    .argument('<name>', 'name of the new run')
    .argument('[settings...]', 'settings that differ, each as name=value')
    .option('--step <step>', 'step after which the fork begins (default: the present state)', integerParser())
    .option('--json', 'print the server’s JSON response')
    .examples(['reasoning-gym-server runs fork first second --step 120 batch_size=64'])
    .callServer(
      withServer,
      async (server, run: string, name: string, settings: string[], { json, step }: RunsOptions) => {
        const change = Object.fromEntries(settings.map(parseSetting))
        const body = { name, settings: change, ...(step !== undefined && { step }) }
        const fork = await server.call(Run, 'POST', `${getRunPath(run)}/fork`, body)
        if (json) return printJson(fork)
        const { step: from } = fork.forked_from ?? { step: null }
        await printLine(`Forked run ${run} as ${name}${from === null ? '' : `, after step ${from}`}`)
        printNext(server, { page: `/compare?runs=${encodeURIComponent(run)},${encodeURIComponent(name)}` })
      },
    )
}

/** The settings whose values differ from those of the preset. */
async function listChangedSettings(settings: Record<string, unknown>): Promise<string[]> {
  const { resolveSettings, SettingsChange } = await import('@reasoning-gym-server/contract/run-settings') // lazy: other commands do not need it
  const preset = SettingsChange.safeParse({ preset: settings.preset }).data ?? {}
  const defaults: Record<string, unknown> = resolveSettings(preset)
  return Object.keys(settings).filter((name) => !isDeepStrictEqual(settings[name], defaults[name]))
}

function buildRunSaveCommand(withServer: WithServer): Command {
  return createRunCommand('save')
    .summary('Print a checkpoint of a run')
    .description(
      'Print a checkpoint of a run as JSON: its settings, its position in the item sequence, the difficulty of each task, and its counters.',
    )
    .examples(['reasoning-gym-server runs save first > first.json'])
    .callServer(withServer, async (server, name: string) =>
      streamBodyToStdout(await server.request('GET', `${getRunPath(name)}/checkpoint`)),
    )
}

const RestoreResponse = z.object({ epoch: z.number(), forgotten: z.record(z.string(), z.number()) })

function buildRunRestoreCommand(withServer: WithServer): Command {
  return createRunCommand('restore')
    .summary('Restore a run from a checkpoint')
    .description(
      'Restore a run from a checkpoint, under the same or another name. This discards the groups and batches that the run holds now.',
    )
    .argument('<file>', 'checkpoint file, or - for stdin')
    .examples(['reasoning-gym-server runs restore second first.json'])
    .action((name: string, file: string, options: ServerOptions) => {
      const checkpoint = readCheckpointFile(file)
      return withServer(options, { keeps: true }, async (server) => {
        const { epoch, forgotten } = await server.call(
          RestoreResponse,
          'PUT',
          `${getRunPath(name)}/checkpoint`,
          checkpoint,
        )
        const lost = Object.entries(forgotten).map(([what, count]) => `${count} ${what.replaceAll('_', ' ')}`)
        await printLine(`Restored run ${name}, now in epoch ${epoch}. Discarded: ${lost.join(', ')}`)
      })
    })
    .addServerOptions()
}

function readCheckpointFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8'))
  } catch (cause) {
    throw new CliError(`Cannot read ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}
