/** `duel`: two models answer the same items until it is clear which one is better. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { z } from 'zod'
import { type ApiClient, addServerOptions, type ServerOptions, withServer } from './api-client.ts'
import { CliError } from './cli-error.ts'
import { watchGenerationJob } from './generation-job.ts'
import {
  addModelOptions,
  buildModelRequest,
  buildModelServerEnv,
  getModelApiKey,
  type ModelOptions,
} from './mock-model-options.ts'
import { appendValue, formatExamples, integerParser, parseUnitInterval } from './option-parsers.ts'
import { printJson, printLine, printStatus } from './output.ts'
import { formatTable } from './table.ts'

interface DuelOptions extends ServerOptions, ModelOptions {
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
  resume?: string
  detach?: true
  json?: true
}

export function buildDuelCommand(): Command {
  return addModelOptions(addServerOptions(new Command('duel')))
    .summary('Two models on the same items, until one is shown to be better')
    .description(
      'Ask two models (a is --model, b is --against) the same items until one is shown to be better, or until their difference is shown to be smaller than --smallest-difference. The test allows stopping at any time. Ctrl-C cancels; --resume goes on.',
    )
    .option('--against <name>', 'the other model, as its server knows it')
    .option('--against-base-url <url>', 'its server; none: that of --base-url')
    .option('--against-api-key <key>', 'its key; none: that of --api-key, where both have one server')
    .option('--task <name>', 'a task or category:NAME; may be repeated; none: all tasks', appendValue)
    .option('--difficulty <number>', 'of the items; none: the library’s defaults', parseUnitInterval)
    .option('--seed <number>', 'of the items', integerParser(), 0)
    .option('--max-items <count>', 'end without a winner after this many', integerParser(10), 1000)
    .option('--alpha <number>', 'highest probability of naming a winner of two equal models', parseUnitInterval, 0.05)
    .option(
      '--smallest-difference <number>',
      'end once the difference is shown to be smaller; 0: never for that',
      parseUnitInterval,
      0.05,
    )
    .addOption(new Option('--scoring <mode>', 'whose score').choices(['upstream', 'hardened']))
    .option('--label <text>', 'to find it again; may be repeated', appendValue)
    .option('--resume <id>', 'go on with a duel that was cancelled or failed', parseDuelId)
    .option('--detach', 'print its ID and leave it to the server')
    .option('--json', 'print what the server answers')
    .addHelpText(
      'after',
      formatExamples(
        'reasoning-gym-server duel --model new --base-url http://127.0.0.1:8100/v1 --against old',
        'reasoning-gym-server duel --model A --base-url U --against B --against-base-url V --task category:logic --difficulty 0.5',
        'reasoning-gym-server duel --resume duel-0123456789abcdef0123',
      ),
    )
    .action(runDuel)
}

async function runDuel(options: DuelOptions): Promise<void> {
  const body = options.resume === undefined ? buildDuelRequest(options) : undefined
  const env = buildModelServerEnv(options)
  const hosts = [env.MODEL_HOSTS, buildModelServerEnv({ baseUrl: options.againstBaseUrl }).MODEL_HOSTS]
  await withServer(options, { keeps: true, env: { MODEL_HOSTS: hosts.filter(Boolean).join(',') } }, async (server) => {
    const { id } = await server.callWithRetry(
      StartedDuel,
      'POST',
      body ? '/duels' : `/duels/${options.resume}/resume`,
      body ?? (await buildResumeKeys(server, options)),
    )
    if (options.detach) return printLine(id)
    printStatus(`Duel ${id}`)
    const resume = `reasoning-gym-server duel --resume ${id}`
    await watchGenerationJob(server, { path: `/duels/${id}`, unit: 'samples at most', resume })
    const duel = await server.call(DuelResponse, 'GET', `/duels/${id}`)
    await (options.json ? printJson(duel) : printDuel(duel))
    if (duel.status !== 'done') throw new CliError(`The duel is ${duel.status}${duel.detail ? `: ${duel.detail}` : ''}`)
  })
}

const StartedDuel = z.looseObject({ id: z.string() })
const nullableNumber = z.number().nullish()
const Side = z.looseObject({ mean_score: nullableNumber, lift: nullableNumber })
const Figures = z.looseObject({ items: z.number(), a: Side, b: Side, difference: nullableNumber })
const DuelResponse = z.looseObject({
  id: z.string(),
  status: z.string(),
  detail: z.string().nullish(),
  a: z.looseObject({ name: z.string(), base_url: z.string() }),
  b: z.looseObject({ name: z.string(), base_url: z.string() }),
  alpha: z.number(),
  result: z
    .looseObject({
      ...Figures.shape,
      verdict: z.string(),
      ended_by: z.string().nullish(),
      confidence_sequence: z.tuple([z.number(), z.number()]).nullish(),
      e_value: z.number(),
      p: z.number(),
      tasks: z.record(z.string(), Figures),
      warnings: z.array(z.string()).default([]),
    })
    .nullish(),
})
type DuelResponse = z.infer<typeof DuelResponse>

async function printDuel({ id, status, a, b, alpha, result }: DuelResponse): Promise<void> {
  await printLine(`a ${a.name} against b ${b.name}: ${status} (${id})`)
  if (!result) return
  const rows = [...Object.entries(result.tasks), ['all', result] as const].map(([name, figures]) => [
    ...[name, figures.items],
    ...[figures.a.mean_score, figures.b.mean_score, figures.difference].map((value) => value?.toFixed(3) ?? null),
  ])
  await printLine(`\n${formatTable(['', 'items', 'a', 'b', 'a − b'], rows)}\n`)
  if (result.confidence_sequence) {
    const [low, high] = result.confidence_sequence
    await printLine(`a − b with ${100 * (1 - alpha)} % confidence: [${low.toFixed(3)}, ${high.toFixed(3)}]`)
  }
  await printLine(`e-value ${result.e_value.toPrecision(3)}, p ${result.p.toPrecision(2)} at any time`)
  for (const warning of result.warnings) await printLine(`Note: ${warning}`)
  await printLine(formatVerdict(result.verdict, result.ended_by, { a: a.name, b: b.name }))
}

function formatVerdict(verdict: string, endedBy: string | null | undefined, names: { a: string; b: string }): string {
  if (verdict === 'a_better') return `a is better: ${names.a}`
  if (verdict === 'b_better') return `b is better: ${names.b}`
  return `No difference found${endedBy === 'equivalence' ? ': it is smaller than --smallest-difference' : ''}`
}

function buildDuelRequest(options: DuelOptions): object {
  const { against, againstBaseUrl, task, difficulty, seed, maxItems, alpha, smallestDifference, scoring, label } =
    options
  if (against === undefined) throw new CliError('Name the other model with --against', { exitCode: 2 })
  const { model: a, ...request } = buildModelRequest(options) as { model: { base_url: string } } // its return value
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

/** Which servers a stored duel calls is known to it alone. */
async function buildResumeKeys(server: ApiClient, options: DuelOptions): Promise<DuelKeys> {
  const { a, b } = await server.call(DuelResponse, 'GET', `/duels/${options.resume}`)
  return buildKeys(options, a.base_url === b.base_url)
}

interface DuelKeys {
  api_key_a?: string
  api_key_b?: string
}

/** A key goes to no server but the one that it was given for. */
function buildKeys(options: DuelOptions, hasOneServer: boolean): DuelKeys {
  const a = getModelApiKey(options)
  const b = options.againstApiKey ?? (hasOneServer ? a : undefined)
  return { ...(a !== undefined && { api_key_a: a }), ...(b !== undefined && { api_key_b: b }) }
}

function parseDuelId(text: string): string {
  if (!/^duel-[0-9a-f]+$/.test(text)) throw new InvalidArgumentError('It must be the ID of a duel.')
  return text
}
