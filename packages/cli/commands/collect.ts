/** `collect`: has a model complete a run's items, and stores the scored groups like submitted ones. */

import { Command } from 'commander'
import { z } from 'zod'
import type { ApiClient } from '../api-client.ts'
import { CliError } from '../cli-error.ts'
import { watchGenerationJob } from '../generation-job.ts'
import { formatHelpFooter } from '../help.ts'
import {
  addModelOptions,
  buildModelRequest,
  getModelApiKey,
  listModelHosts,
  type ModelOptions,
} from '../model-options.ts'
import { integerParser } from '../option-parsers.ts'
import { printJson, printLine, printNext, printStatus } from '../output.ts'
import { heading, paint } from '../style.ts'
import { formatFacts, type TableCell } from '../table.ts'
import { addServerOptions, type ServerOptions, type WithServer } from '../with-server.ts'

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

export function buildCollectCommand(withServer: WithServer): Command {
  return addServerOptions(
    addModelOptions(
      new Command('collect')
        .description(
          'Request group_size completions of each of a run’s next items from a model, and score them like groups that a trainer submits: the server buffers them for batches and writes them to dump files according to the run’s settings. "export" makes a data set of them. Ctrl-C cancels the collection on the server; --resume continues it.',
        )
        .requiredOption('--run <name>', 'name of the run (required); the server creates it if it does not exist')
        .option('--groups <count>', 'number of groups to collect', integerParser(1))
        .option('--no-buffer', 'keep the groups out of the run’s batches, for runs without a trainer')
        .option('--resume <id>', 'continue the collection with this ID, which was cancelled')
        .option('--detach', 'start the collection, print its ID and exit without waiting for it')
        .option('--json', 'print the server’s JSON response')
        .addHelpText(
          'after',
          formatHelpFooter({
            examples: [
              'reasoning-gym-server runs set traces dump_rollouts=all group_size=4',
              'reasoning-gym-server collect --run traces --groups 200 --no-buffer --model M --base-url U',
              'reasoning-gym-server export traces --min-reward 1 > sft.jsonl',
              'reasoning-gym-server collect --run traces --resume collect-0123456789abcdef0123',
            ],
          }),
        )
        .action((options: CollectOptions) => runCollect(withServer, options)),
    ),
  )
}

async function runCollect(withServer: WithServer, options: CollectOptions): Promise<void> {
  const path = `/runs/${encodeURIComponent(options.run)}/collect`
  const body = options.resume === undefined ? buildCollectionRequest(options) : undefined
  await withServer(options, { keeps: true, modelHosts: listModelHosts(options.baseUrl) }, async (server) => {
    const { id } = await startCollection(server, path, options, body)
    if (options.detach) return printLine(id)
    printStatus(`Collection ${id}`)
    const resume = `reasoning-gym-server collect --run ${options.run} --resume ${id}`
    await watchGenerationJob(server, { path: `${path}/${id}`, unit: 'samples', resume })
    const answer = await server.call(CollectionResponse, 'GET', `${path}/${id}`)
    await (options.json ? printJson(answer) : printCollection(answer, options.run))
    if (!options.json)
      printNext(server, {
        page: `/runs/${encodeURIComponent(options.run)}/groups`,
        ...(answer.status === 'done' && { next: `reasoning-gym-server export ${options.run} > ${options.run}.jsonl` }),
      })
    if (answer.status !== 'done')
      throw new CliError(
        `The collection did not finish. Its status is ${answer.status}${answer.detail ? `: ${answer.detail}` : ''}`,
      )
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
  if (options.groups === undefined) throw new CliError('Set the number of groups with --groups', { exitCode: 2 })
  return { ...buildModelRequest(options), groups: options.groups, ...(!options.buffer && { buffer: false }) }
}

async function printCollection({ id, status, group_size, result }: CollectionResponse, run: string): Promise<void> {
  const tone = status === 'done' ? (result?.failed ? 'warn' : 'good') : 'bad'
  await printLine(`${heading(`Collection for the run ${run}`)}  ${paint(status, tone)}  ${id}`)
  if (!result) return
  const facts: [string, TableCell][] = [
    ['groups', result.groups],
    ['rollouts per group', group_size],
    ['scored', result.scored],
    ['failed', result.failed > 0 ? { text: String(result.failed), tone: 'bad' } : 0],
    ...Object.entries(result.destinations).map(([name, count]): [string, TableCell] => [
      name.replaceAll('_', ' '),
      count,
    ]),
    ['mean score', result.mean_score?.toFixed(3)],
  ]
  await printLine(`\n${formatFacts(facts)}`)
}
