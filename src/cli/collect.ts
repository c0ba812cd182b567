/** `collect`: a run's items answered by a model, scored, and kept like posted groups. */
import { Command } from 'commander'
import { z } from 'zod'
import { Failure } from './failure.ts'
import { addModelOptions, askingOf, keyOf, type ModelOptions, reachOf } from './model-options.ts'
import { examples, whole } from './options.ts'
import { printJson, printLine, tell } from './output.ts'
import { watch } from './sampling.ts'
import { addServerOptions, type Server, type ServerOptions, withServer } from './server.ts'
import { tableOf } from './table.ts'

interface Options extends ServerOptions, ModelOptions {
  run: string
  groups?: number
  buffer: boolean
  resume?: string
  detach?: true
  json?: true
}

const Begun = z.looseObject({ id: z.string() })
const Collection = z.looseObject({
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
type Collection = z.infer<typeof Collection>

export function collect(): Command {
  return addModelOptions(addServerOptions(new Command('collect')))
    .summary('A run’s items answered by a model: a data set of scored traces')
    .description(
      'Ask a model for group_size completions of each of a run’s next items, and score them like posted groups: dumped as the run is set, buffered for its trainer. `export` makes a data set of the dumps. Ctrl-C cancels; --resume goes on.',
    )
    .requiredOption('--run <name>', 'the run; it comes into being with its first use')
    .option('--groups <count>', 'groups wanted', whole(1))
    .option('--no-buffer', 'keep them out of the batches: for runs without a trainer')
    .option('--resume <id>', 'go on with a collection that was cancelled')
    .option('--detach', 'print its id and leave it to the server')
    .option('--json', 'print what the server answers')
    .addHelpText(
      'after',
      examples(
        'reasoning-gym-server runs set traces dump_rollouts=all group_size=4',
        'reasoning-gym-server collect --run traces --groups 200 --no-buffer --model M --base-url U',
        'reasoning-gym-server export traces --min-reward 1 > sft.jsonl',
        'reasoning-gym-server collect --run traces --resume collect-0123456789abcdef0123',
      ),
    )
    .action(run)
}

async function run(options: Options): Promise<void> {
  const path = `/runs/${encodeURIComponent(options.run)}/collect`
  const body = options.resume === undefined ? bodyOf(options) : undefined
  await withServer(options, { keeps: true, env: reachOf(options) }, async (server) => {
    const { id } = await begin(server, path, options, body)
    if (options.detach) return printLine(id)
    tell(`Collection ${id}`)
    const resume = `reasoning-gym-server collect --run ${options.run} --resume ${id}`
    await watch(server, { path: `${path}/${id}`, unit: 'samples', resume })
    const answer = await server.call(Collection, 'GET', `${path}/${id}`)
    await (options.json ? printJson(answer) : show(answer))
    if (answer.status !== 'done')
      throw new Failure(`The collection is ${answer.status}${answer.detail ? `: ${answer.detail}` : ''}`)
  })
}

function begin(
  server: Server,
  path: string,
  options: Options,
  body: object | undefined,
): Promise<z.infer<typeof Begun>> {
  if (body) return server.insist(Begun, 'POST', path, body)
  const api_key = keyOf(options)
  return server.insist(
    Begun,
    'POST',
    `${path}/${encodeURIComponent(options.resume ?? '')}/resume`,
    api_key === undefined ? {} : { api_key },
  )
}

function bodyOf(options: Options): object {
  if (options.groups === undefined) throw new Failure('Say how many with --groups', { exitCode: 2 })
  return { ...askingOf(options), groups: options.groups, ...(!options.buffer && { buffer: false }) }
}

async function show({ id, status, group_size, result }: Collection): Promise<void> {
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
  await printLine(`\n${tableOf(['', ''], rows)}`)
}
