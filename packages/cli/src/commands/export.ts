/** `export`: prints a run's rollouts as a data set for fine-tuning. */

import { type Command, Option } from 'commander'
import { CliCommand } from '../command.ts'
import { integerParser, parseNumber } from '../options.ts'
import { streamBodyToStdout } from '../output.ts'
import type { WithServer } from '../with-server.ts'

interface ExportOptions {
  format: string
  minReward?: number
  maxPerItem?: number
  dedupe: boolean
  manifest?: true
}

export function buildExportCommand(withServer: WithServer): Command {
  return new CliCommand('export')
    .description('Print the rollouts of a run’s dump files and stored groups as a training data set in JSON Lines.')
    .argument('<run>', 'name of the run')
    .addOption(
      new Option(
        '--format <format>',
        'sft: one good conversation per line; dpo: one pair of a chosen and a rejected completion per line',
      )
        .choices(['sft', 'dpo'])
        .default('sft'),
    )
    .option('--min-reward <number>', 'minimum reward of a good or chosen completion (server default: 0.5)', parseNumber)
    .option(
      '--max-per-item <count>',
      'maximum number of lines per item, those with the highest rewards first (server default: 1)',
      integerParser(1),
    )
    .option('--no-dedupe', 'keep identical completions of the same prompt (by default, only one is kept)')
    .option(
      '--manifest',
      'print a JSON manifest of the data set, which lists its sources and filters, instead of the data set',
    )
    .examples([
      'reasoning-gym-server export traces --min-reward 1 > sft.jsonl',
      'reasoning-gym-server export traces --format dpo --max-per-item 4 > dpo.jsonl',
    ])
    .callServer(withServer, async (server, run: string, options: ExportOptions) => {
      const path = `/runs/${encodeURIComponent(run)}/export?${buildExportQuery(options).toString()}`
      await streamBodyToStdout(await server.request('GET', path))
    })
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
