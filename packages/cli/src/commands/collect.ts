/** `collect`: has a model complete a run's items, and stores the scored groups like submitted ones. */

import { CollectionView } from '@reasoning-gym-server/contract/collection'
import type { Command } from 'commander'
import { CliError } from '../cli-error.ts'
import { CliCommand } from '../command.ts'
import { followJob } from '../generation-job.ts'
import {
  addModelOptions,
  buildModelRequest,
  buildResumeRequest,
  integerParser,
  type JobOptions,
  listModelHosts,
  type ModelOptions,
} from '../options.ts'
import { heading, paint, printLine, printNext } from '../output.ts'
import { formatFacts, type TableCell } from '../table.ts'
import type { WithServer } from '../with-server.ts'

interface CollectOptions extends JobOptions, ModelOptions {
  run: string
  groups?: number
  buffer: boolean
}

export function buildCollectCommand(withServer: WithServer): Command {
  return addModelOptions(
    new CliCommand('collect')
      .description(
        'Request group_size completions of each of a run’s next items from a model, and score them like groups that a trainer submits: the server buffers them for batches and writes them to dump files according to the run’s settings. "export" makes a data set of them. Ctrl-C cancels the collection on the server; --resume continues it.',
      )
      .requiredOption('--run <name>', 'name of the run (required), which "runs set" creates')
      .option('--groups <count>', 'number of groups to collect', integerParser(1))
      .option('--no-buffer', 'keep the groups out of the run’s batches, for runs without a trainer')
      .option('--resume <id>', 'continue the collection with this ID, which was cancelled')
      .option('--detach', 'start the collection, print its ID and exit without waiting for it')
      .option('--json', 'print the server’s JSON response')
      .examples([
        'reasoning-gym-server runs set traces dump_rollouts=all group_size=4',
        'reasoning-gym-server collect --run traces --groups 200 --no-buffer --model M --base-url U',
        'reasoning-gym-server export traces --min-reward 1 > sft.jsonl',
        'reasoning-gym-server collect --run traces --resume collect-0123456789abcdef0123',
      ])
      .action((options: CollectOptions) => runCollect(withServer, options)),
  ).addServerOptions()
}

async function runCollect(withServer: WithServer, options: CollectOptions): Promise<void> {
  const { run } = options
  const body = options.resume === undefined ? buildCollectionRequest(options) : buildResumeRequest(options)
  await withServer(options, { keeps: true, modelHosts: listModelHosts(options.baseUrl) }, async (server) => {
    await followJob(server, {
      name: 'collection',
      path: `/runs/${encodeURIComponent(run)}/collect`,
      view: CollectionView,
      body,
      resumeCommand: `reasoning-gym-server collect --run ${run} --resume`,
      options,
      print: async (view) => {
        await printCollection(view)
        printNext(server, {
          page: `/runs/${encodeURIComponent(run)}/groups`,
          ...(view.status === 'done' && { next: `reasoning-gym-server export ${run} > ${run}.jsonl` }),
        })
      },
    })
  })
}

function buildCollectionRequest(options: CollectOptions): object {
  if (options.groups === undefined) throw new CliError('Set the number of groups with --groups', { exitCode: 2 })
  return { ...buildModelRequest(options), groups: options.groups, ...(!options.buffer && { buffer: false }) }
}

async function printCollection({ id, run, status, group_size, result }: CollectionView): Promise<void> {
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
