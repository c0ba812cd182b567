/** `export`: what a run has gathered, as a data set for fine-tuning. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { addServerOptions, type ServerOptions, withServer } from './api-client.ts'
import { formatExamples, integerParser } from './option-parsers.ts'
import { streamBodyToStdout } from './stream-body.ts'

interface ExportOptions extends ServerOptions {
  format: string
  minReward?: number
  maxPerItem?: number
  dedupe: boolean
  manifest?: true
}

export function buildExportCommand(): Command {
  return addServerOptions(new Command('export'))
    .summary('What a run has gathered, as a data set')
    .description('Print the rollouts of a run’s dump files as a data set to train on, JSON lines.')
    .argument('<run>', 'name of the run')
    .addOption(
      new Option('--format <format>', 'sft: good conversations; dpo: pairs of a good and a bad one')
        .choices(['sft', 'dpo'])
        .default('sft'),
    )
    .option('--min-reward <number>', 'least reward of a good one (the server’s default: 0.5)', parseNumber)
    .option('--max-per-item <count>', 'lines of one item, the best first (the server’s default: 1)', integerParser(1))
    .option('--no-dedupe', 'the same text for the same prompt more than once')
    .option('--manifest', 'what the lines come from, in place of them')
    .addHelpText(
      'after',
      formatExamples(
        'reasoning-gym-server export traces --min-reward 1 > sft.jsonl',
        'reasoning-gym-server export traces --format dpo --max-per-item 4 > dpo.jsonl',
      ),
    )
    .action((run: string, options: ExportOptions) =>
      withServer(options, { keeps: true }, async (server) => {
        const path = `/runs/${encodeURIComponent(run)}/export?${buildExportQuery(options).toString()}`
        await streamBodyToStdout(await server.request('GET', path))
      }),
    )
}

function buildExportQuery({ format, minReward, maxPerItem, dedupe, manifest }: ExportOptions): URLSearchParams {
  return new URLSearchParams({
    format,
    ...(minReward !== undefined && { min_reward: String(minReward) }),
    ...(maxPerItem !== undefined && { max_per_item: String(maxPerItem) }),
    ...(!dedupe && { dedupe: 'false' }),
    ...(manifest && { manifest: 'true' }),
  })
}

function parseNumber(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.')
  return value
}
