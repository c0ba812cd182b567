/** `collect`: a run's items answered by a model, scored, and kept like posted groups. */
import { Command } from 'commander'
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
import { formatExamples, integerParser } from './option-parsers.ts'
import { printJson, printLine, printStatus } from './output.ts'
import { formatTable } from './table.ts'

interface CollectOptions extends ServerOptions, ModelOptions {
  run: string
  groups?: number
  buffer: boolean
  resume?: string
  detach?: true
  json?: true
}

const StartedCollection = z.looseObject({ id: z.string() })
const CollectionResponse = z.looseObject({
  id: z.string(),
  status: z.string(),
  detail: z.string().nullish(),
  group_size: z.number(),
  result: z
    .looseObject({
      groups: z.number(),
      scored: z.number(),
      failed: z.number(),
      destinations: z.record(z.string(), z.number()),
      mean_score: z.number().nullable(),
    })
    .nullish(),
})
type CollectionResponse = z.infer<typeof CollectionResponse>

export function buildCollectCommand(): Command {
  return addModelOptions(addServerOptions(new Command('collect')))
    .summary('A run’s items answered by a model: a data set of scored traces')
    .description(
      'Ask a model for group_size completions of each of a run’s next items, and score them like posted groups: dumped as the run is set, buffered for its trainer. `export` makes a data set of the dumps. Ctrl-C cancels; --resume goes on.',
    )
    .requiredOption('--run <name>', 'the run; it comes into being with its first use')
    .option('--groups <count>', 'groups wanted', integerParser(1))
    .option('--no-buffer', 'keep them out of the batches: for runs without a trainer')
    .option('--resume <id>', 'go on with a collection that was cancelled')
    .option('--detach', 'print its id and leave it to the server')
    .option('--json', 'print what the server answers')
    .addHelpText(
      'after',
      formatExamples(
        'reasoning-gym-server runs set traces dump_rollouts=all group_size=4',
        'reasoning-gym-server collect --run traces --groups 200 --no-buffer --model M --base-url U',
        'reasoning-gym-server export traces --min-reward 1 > sft.jsonl',
        'reasoning-gym-server collect --run traces --resume collect-0123456789abcdef0123',
      ),
    )
    .action(runCollect)
}

async function runCollect(options: CollectOptions): Promise<void> {
  const path = `/runs/${encodeURIComponent(options.run)}/collect`
  const body = options.resume === undefined ? buildCollectionRequest(options) : undefined
  await withServer(options, { keeps: true, env: buildModelServerEnv(options) }, async (server) => {
    const { id } = await startCollection(server, path, options, body)
    if (options.detach) return printLine(id)
    printStatus(`Collection ${id}`)
    const resume = `reasoning-gym-server collect --run ${options.run} --resume ${id}`
    await watchGenerationJob(server, { path: `${path}/${id}`, unit: 'samples', resume })
    const answer = await server.call(CollectionResponse, 'GET', `${path}/${id}`)
    await (options.json ? printJson(answer) : printCollection(answer))
    if (answer.status !== 'done')
      throw new CliError(`The collection is ${answer.status}${answer.detail ? `: ${answer.detail}` : ''}`)
  })
}

function startCollection(
  server: ApiClient,
  path: string,
  options: CollectOptions,
  body: object | undefined,
): Promise<z.infer<typeof StartedCollection>> {
  if (body) return server.callWithRetry(StartedCollection, 'POST', path, body)
  const api_key = getModelApiKey(options)
  return server.callWithRetry(
    StartedCollection,
    'POST',
    `${path}/${encodeURIComponent(options.resume ?? '')}/resume`,
    api_key === undefined ? {} : { api_key },
  )
}

function buildCollectionRequest(options: CollectOptions): object {
  if (options.groups === undefined) throw new CliError('Say how many with --groups', { exitCode: 2 })
  return { ...buildModelRequest(options), groups: options.groups, ...(!options.buffer && { buffer: false }) }
}

async function printCollection({ id, status, group_size, result }: CollectionResponse): Promise<void> {
  await printLine(`${id}: ${status}`)
  if (!result) return
  const rows = [
    ['groups', result.groups],
    ['rollouts of each', group_size],
    ['scored', result.scored],
    ['failed', result.failed],
    ...Object.entries(result.destinations).map(([name, count]) => [name.replaceAll('_', ' '), count]),
    ['mean score', result.mean_score?.toFixed(3)],
  ]
  await printLine(`\n${formatTable(['', ''], rows)}`)
}
