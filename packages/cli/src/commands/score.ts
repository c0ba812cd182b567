/** `score`: scores completions without storing anything. */

import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { formatJsonLine, readLines } from '@reasoning-gym-server/codec/json-lines'
import { ScoreResponse } from '@reasoning-gym-server/contract/score'
import type { Verdict } from '@reasoning-gym-server/contract/verdict'
import type { Command } from 'commander'
import type { ApiClient } from '../api-client.ts'
import { CliError } from '../cli-error.ts'
import { CliCommand } from '../command.ts'
import {
  createExtractionOption,
  createFeedbackOption,
  createScoringOption,
  DUAL_FORMAT_DESCRIPTION,
} from '../options.ts'
import { print, printJson, printLine, printStatus } from '../output.ts'
import type { WithServer } from '../with-server.ts'

interface ScoreOptions {
  id?: string
  completion?: string
  answer?: string
  extraction: string
  dualFormat: boolean
  scoring: string
  feedback: string
  json?: true
}

const MAX_CHUNK_ROLLOUTS = 256
const MAX_CHUNK_CHARS = 8 * 1024 * 1024

export function buildScoreCommand(withServer: WithServer): Command {
  return new CliCommand('score')
    .description(
      'Score one completion given as options, or many from a JSON Lines file. Each input line needs item_id or recipe, and one of completion, messages or answer. The command prints one verdict per line, in the order of the input. The server stores nothing.',
    )
    .argument('[file]', 'JSON Lines file, which may be compressed (.gz); omit it or use - for stdin')
    .option('--id <id>', 'score one completion of the item with this ID')
    .option('--completion <text>', 'text that the model generated, with --id')
    .option('--answer <text>', 'answer without tags, with --id and in place of --completion')
    .addOption(createExtractionOption().default('strict'))
    .option('--no-dual-format', DUAL_FORMAT_DESCRIPTION)
    .addOption(createScoringOption().default('upstream'))
    .addOption(createFeedbackOption('what verdicts say about wrong answers').default('none'))
    .option('--json', 'print the verdict as JSON, with --id')
    .examples([
      'reasoning-gym-server score --id "$ID" --completion "<answer>100</answer>"',
      'reasoning-gym-server score rollouts.jsonl > verdicts.jsonl',
      'zcat old.jsonl.gz | reasoning-gym-server score --extraction last_tag --no-dual-format',
    ])
    .hook('preAction', (command) => {
      const { id, completion, answer } = command.opts<ScoreOptions>()
      const texts = [completion, answer].filter((text) => text !== undefined).length
      if (id === undefined ? texts > 0 : texts !== 1 || command.args.length > 0)
        throw new CliError('Give a file, or --id with either --completion or --answer', { exitCode: 2 })
    })
    .callServer(
      withServer,
      (server, file: string | undefined, options: ScoreOptions) =>
        options.id === undefined ? scoreLines(server, file, options) : scoreOne(server, options.id, options),
      { keeps: false },
    )
}

async function scoreOne(server: ApiClient, id: string, options: ScoreOptions): Promise<void> {
  const { completion, answer, json } = options
  const rollout = { item_id: id, ...(completion === undefined ? { answer } : { completion }) }
  const [verdict] = await requestVerdicts(server, [rollout], options)
  if (json) return printJson(verdict)
  if (verdict === undefined) throw new CliError('The server returned no verdict')
  const why =
    verdict.status === 'scored'
      ? [verdict.fault, verdict.feedback?.text].filter(Boolean).join(': ')
      : `${verdict.code}: ${verdict.detail}`
  await printLine([verdict.status, verdict.reward ?? '', why].join(' ').trimEnd())
}

async function scoreLines(server: ApiClient, file: string | undefined, options: ScoreOptions): Promise<void> {
  const tally = { verdicts: 0, scored: 0, reward: 0, faults: 0 }
  const flush = async (some: unknown[]) => {
    for (const verdict of await requestVerdicts(server, some, options)) {
      tally.verdicts++
      if (verdict.status === 'scored' && verdict.fault) tally.faults++
      if (verdict.reward !== null) {
        tally.scored++
        tally.reward += verdict.reward
      }
      await print(formatJsonLine(verdict))
    }
  }
  let some: unknown[] = []
  let chars = 0
  for await (const { value } of readJsonLines(file)) {
    some.push(value)
    chars += JSON.stringify(value).length
    if (some.length < MAX_CHUNK_ROLLOUTS && chars < MAX_CHUNK_CHARS) continue
    await flush(some)
    some = []
    chars = 0
  }
  if (some.length > 0) await flush(some)
  if (tally.verdicts === 0)
    throw new CliError('The input has no rollouts. Send one JSON object per line', { exitCode: 2 })
  const mean = tally.scored === 0 ? 'none' : (tally.reward / tally.scored).toFixed(4)
  printStatus(
    `${tally.verdicts} verdicts, mean reward ${mean}, ${tally.faults} format faults, ${tally.verdicts - tally.scored} unscored`,
  )
}

async function requestVerdicts(
  server: ApiClient,
  rollouts: unknown[],
  { extraction, dualFormat, scoring, feedback }: ScoreOptions,
): Promise<Verdict[]> {
  const body = { rollouts, extraction, dual_format: dualFormat, scoring, feedback }
  return (await server.callWithRetry(ScoreResponse, 'POST', '/score', body)).verdicts ?? []
}

/** Yields the values in order and skips blank lines. Throws a CliError that names the first line that is not JSON. */
async function* readJsonLines(file: string | undefined): AsyncGenerator<{ line: number; value: unknown }> {
  const name = file === undefined || file === '-' ? 'stdin' : file
  const input = name === 'stdin' ? process.stdin : createReadStream(name)
  const stream = name.endsWith('.gz') ? pipeline(input, createGunzip(), () => {}) : input // reading it throws errors of both
  const lines = readLines(stream)
  for (let line = 1; ; line++) {
    const next = await lines.next().catch((cause: unknown) => {
      throw new CliError(`Cannot read ${name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    })
    if (next.done) return
    if (next.value.trim() === '') continue
    yield { line, value: parseJsonLine(next.value, `${name}, line ${line}`) }
  }
}

function parseJsonLine(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new CliError(`${where} is not valid JSON`, { cause })
  }
}
