/** `duel`: compares two models on the same items until one is significantly better. */

import { DuelView } from '@reasoning-gym-server/contract/duel'
import { type Command, InvalidArgumentError } from 'commander'
import type { ApiClient } from '../api-client.ts'
import { CliError } from '../cli-error.ts'
import { CliCommand } from '../command.ts'
import { followJob } from '../generation-job.ts'
import {
  addModelOptions,
  appendValue,
  buildModelRequest,
  createScoringOption,
  getModelApiKey,
  integerParser,
  type JobOptions,
  listModelHosts,
  type ModelOptions,
  parseUnitInterval,
} from '../options.ts'
import { heading, muted, paint, printLine, printNext } from '../output.ts'
import { formatTable } from '../table.ts'
import type { WithServer } from '../with-server.ts'

interface DuelOptions extends JobOptions, ModelOptions {
  against?: string
  againstBaseUrl?: string
  againstApiKey?: string
  task?: string[]
  difficulty?: number
  seed: number
  maxItems: number
  alpha: number
  smallestDifference: number
  scoring?: string
  label?: string[]
}

export function buildDuelCommand(withServer: WithServer): Command {
  return addModelOptions(
    new CliCommand('duel')
      .description(
        'Compare two models on the same items: --model is model a, --against is model b. The duel ends when one model is shown to be better, when their difference is shown to be smaller than --smallest-difference, or after --max-items. The statistical test stays valid whenever the duel stops. Ctrl-C cancels the duel on the server; --resume continues it.',
      )
      .option('--against <name>', 'name of model b in its API')
      .option('--against-base-url <url>', 'base URL of model b’s API (default: the value of --base-url)')
      .option(
        '--against-api-key <key>',
        'API key for model b (default: the value of --api-key, if both models have the same base URL)',
      )
      .option(
        '--task <name>',
        'task or category:NAME to take items from; repeat the option for several (default: all tasks)',
        appendValue,
      )
      .option(
        '--difficulty <number>',
        'difficulty of the items, from 0 to 1 (default: the config defaults of the library)',
        parseUnitInterval,
      )
      .option('--seed <number>', 'seed of the items', integerParser(), 0)
      .option(
        '--max-items <count>',
        'maximum number of items, after which the duel ends without a winner',
        integerParser(10),
        1000,
      )
      .option(
        '--alpha <number>',
        'maximum probability of naming a winner if the models are equal',
        parseUnitInterval,
        0.05,
      )
      .option(
        '--smallest-difference <number>',
        'end the duel when the difference of the mean scores is shown to be smaller; 0 turns this off',
        parseUnitInterval,
        0.05,
      )
      .addOption(createScoringOption(' (server default: upstream)'))
      .option('--label <text>', 'label to store with the duel; repeat the option for several', appendValue)
      .option('--resume <id>', 'continue the duel with this ID, which was cancelled or failed', parseDuelId)
      .option('--detach', 'start the duel, print its ID and exit without waiting for it')
      .option('--json', 'print the server’s JSON response')
      .examples([
        'reasoning-gym-server duel --model new --base-url http://127.0.0.1:8100/v1 --against old',
        'reasoning-gym-server duel --model A --base-url U --against B --against-base-url V --task category:logic --difficulty 0.5',
        'reasoning-gym-server duel --resume duel-0123456789abcdef0123',
      ])
      .action((options: DuelOptions) => runDuel(withServer, options)),
  ).addServerOptions()
}

async function runDuel(withServer: WithServer, options: DuelOptions): Promise<void> {
  const body = options.resume === undefined ? buildDuelRequest(options) : undefined
  const modelHosts = listModelHosts(options.baseUrl, options.againstBaseUrl)
  await withServer(options, { keeps: true, modelHosts }, async (server) => {
    await followJob(server, {
      name: 'duel',
      path: '/duels',
      view: DuelView,
      unit: 'samples (maximum)',
      body: body ?? (await buildResumeKeys(server, options)),
      resumeCommand: 'reasoning-gym-server duel --resume',
      options,
      print: async (view) => {
        await printDuel(view)
        printNext(server, { page: `/evals/${view.id}` })
      },
    })
  })
}

async function printDuel({ id, status, a, b, alpha, result }: DuelView): Promise<void> {
  const tone = status === 'done' ? 'good' : 'bad'
  await printLine(`${heading(`a: ${a.name}, b: ${b.name}`)}  ${paint(status, tone)}  ${muted(id)}`)
  if (!result) return
  const rows = [...Object.entries(result.tasks), ['all', result] as const].map(([name, figures]) => [
    name,
    figures.items,
    figures.a.mean_score?.toFixed(3),
    figures.b.mean_score?.toFixed(3),
    figures.difference?.toFixed(3),
  ])
  await printLine(`\n${formatTable(['task', 'items', 'mean score a', 'mean score b', 'a − b'], rows)}\n`)
  if (result.confidence_sequence) {
    const interval = result.confidence_sequence.map((bound) => bound.toFixed(3)).join(', ')
    await printLine(`${100 * (1 - alpha)}% confidence interval of a − b: [${interval}]`)
  }
  await printLine(`e-value ${result.e_value.toPrecision(3)}, p ${result.p.toPrecision(2)} (valid at any time)`)
  for (const warning of result.warnings) await printLine(paint(`Note: ${warning}`, 'warn'))
  await printLine(heading(formatVerdict(result, { a: a.name, b: b.name })))
}

function formatVerdict(
  { verdict, ended_by }: NonNullable<DuelView['result']>,
  names: { a: string; b: string },
): string {
  if (verdict === 'a_better') return `a is better: ${names.a}`
  if (verdict === 'b_better') return `b is better: ${names.b}`
  return `No difference found${ended_by === 'equivalence' ? '. It is smaller than --smallest-difference' : ''}`
}

function buildDuelRequest(options: DuelOptions): object {
  const { against, againstBaseUrl, task, difficulty, seed, maxItems, alpha, smallestDifference, scoring, label } =
    options
  if (against === undefined) throw new CliError('Name the second model with --against', { exitCode: 2 })
  const { model: a, ...request } = buildModelRequest(options)
  const { api_key_b } = buildKeys(options, againstBaseUrl === undefined || againstBaseUrl === a.base_url)
  return {
    ...request,
    a,
    b: {
      name: against,
      base_url: againstBaseUrl ?? a.base_url,
      ...(api_key_b !== undefined && { api_key: api_key_b }),
    },
    suite: { ...(task && { tasks: task }), ...(difficulty !== undefined && { difficulty }), seed },
    max_items: maxItems,
    alpha,
    smallest_difference: smallestDifference,
    ...(scoring !== undefined && { scoring }),
    ...(label && { labels: label }),
  }
}

/** Reads the stored duel to find out whether both models have the same base URL. */
async function buildResumeKeys(server: ApiClient, options: DuelOptions): Promise<DuelKeys> {
  const { a, b } = await server.call(DuelView.pick({ a: true, b: true }), 'GET', `/duels/${options.resume}`)
  return buildKeys(options, a.base_url === b.base_url)
}

interface DuelKeys {
  api_key_a?: string
  api_key_b?: string
}

/** Never sends a key to an API other than the one it was given for. */
function buildKeys(options: DuelOptions, hasOneServer: boolean): DuelKeys {
  const a = getModelApiKey(options)
  const b = options.againstApiKey ?? (hasOneServer ? a : undefined)
  return { ...(a !== undefined && { api_key_a: a }), ...(b !== undefined && { api_key_b: b }) }
}

function parseDuelId(text: string): string {
  if (!/^duel-[0-9a-f]+$/.test(text))
    throw new InvalidArgumentError('Expected the ID of a duel, for example duel-0123456789abcdef0123.')
  return text
}
