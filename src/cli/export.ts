/** `export`: what a run has gathered, as a data set for fine-tuning. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { Failure } from './failure.ts'
import { examples, whole } from './options.ts'
import { print } from './output.ts'
import { addServerOptions, type ServerOptions, withServer } from './server.ts'

interface Options extends ServerOptions {
  format: string
  minReward?: number
  maxPerItem?: number
  dedupe?: true
}

export function exportRun(): Command {
  return addServerOptions(new Command('export'))
    .summary('What a run has gathered, as a data set')
    .description('Print the rollouts that a run has dumped as a data set, JSON lines.')
    .argument('<run>', 'name of the run')
    .addOption(
      new Option('--format <format>', 'sft: the good ones; dpo: pairs of a good and a bad one')
        .choices(['sft', 'dpo'])
        .default('sft'),
    )
    .option('--min-reward <number>', 'least reward of a good one', number)
    .option('--max-per-item <count>', 'most of one item', whole(1))
    .option('--dedupe', 'equal completions once')
    .addHelpText(
      'after',
      examples(
        'reasoning-gym-server export traces --min-reward 1 --dedupe > sft.jsonl',
        'reasoning-gym-server export traces --format dpo --max-per-item 4 > dpo.jsonl',
      ),
    )
    .action((run: string, options: Options) =>
      withServer(options, { keeps: true }, async (server) => {
        const { format, minReward, maxPerItem, dedupe } = options
        const query = new URLSearchParams({
          format,
          ...(minReward !== undefined && { min_reward: String(minReward) }),
          ...(maxPerItem !== undefined && { max_per_item: String(maxPerItem) }),
          ...(dedupe && { dedupe: 'true' }),
        })
        const { body } = await server.open('GET', `/runs/${encodeURIComponent(run)}/export?${query.toString()}`)
        await copy(body)
      }),
    )
}

/** As it comes, at the pace of the reader. */
async function copy(body: Response['body']): Promise<void> {
  const decoder = new TextDecoder()
  try {
    for await (const chunk of body ?? []) await print(decoder.decode(chunk, { stream: true }))
  } catch (cause) {
    throw new Failure('The server broke off: what was printed is not whole', { cause })
  }
}

function number(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.')
  return value
}
