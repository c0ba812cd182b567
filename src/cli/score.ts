/** `score`: completions in, verdicts out, nothing kept. */
import { Command, Option } from 'commander'
import { z } from 'zod'
import { formatJsonLine } from '../codec/json-lines.ts'
import { type ApiClient, addServerOptions, type ServerOptions, withServer } from './api-client.ts'
import { CliError } from './cli-error.ts'
import { readJsonLines } from './json-lines.ts'
import { formatExamples } from './option-parsers.ts'
import { print, printJson, printLine, printStatus } from './output.ts'

interface ScoreOptions extends ServerOptions {
  id?: string
  completion?: string
  answer?: string
  extraction: string
  dualFormat: boolean
  scoring: string
  json?: true
}

const VerdictResponse = z.looseObject({
  status: z.string(),
  reward: z.number().nullable(),
  fault: z.string().nullish(),
  code: z.string().optional(),
  detail: z.string().optional(),
})
const ScoreResponse = z.object({ verdicts: z.array(VerdictResponse) })

const MAX_CHUNK_ROLLOUTS = 256
const MAX_CHUNK_CHARS = 8 * 1024 * 1024

export function buildScoreCommand(): Command {
  return addServerOptions(new Command('score'))
    .summary('Completions in, verdicts out')
    .description(
      'Score completions: one from the command line, or JSON lines from a file (or stdin), each with item_id or recipe, and completion, messages or answer. A verdict a line comes back, in order.',
    )
    .argument('[file]', 'JSON lines, .gz too; none or -: stdin')
    .option('--id <id>', 'the item of one completion')
    .option('--completion <text>', 'what the model said')
    .option('--answer <text>', 'the bare answer')
    .addOption(
      new Option('--extraction <rule>', 'how the answer is read')
        .choices(['strict', 'last_tag', 'tag_or_boxed', 'bare'])
        .default('strict'),
    )
    .option('--no-dual-format', 'score the answer bare only')
    .addOption(new Option('--scoring <mode>', 'whose score').choices(['upstream', 'hardened']).default('upstream'))
    .option('--json', 'print the verdict of one completion as JSON')
    .addHelpText(
      'after',
      formatExamples(
        'reasoning-gym-server score --id "$ID" --completion "<answer>100</answer>"',
        'reasoning-gym-server score rollouts.jsonl > verdicts.jsonl',
        'zcat old.jsonl.gz | reasoning-gym-server score --extraction last_tag --no-dual-format',
      ),
    )
    .action((file: string | undefined, options: ScoreOptions) =>
      withServer(options, {}, (server) =>
        options.id === undefined ? scoreLines(server, file, options) : scoreOne(server, options.id, options),
      ),
    )
}

async function scoreOne(server: ApiClient, id: string, options: ScoreOptions): Promise<void> {
  const { completion, answer, json } = options
  if ((completion === undefined) === (answer === undefined))
    throw new CliError('Give --completion or --answer with --id', { exitCode: 2 })
  const rollout = { item_id: id, ...(completion === undefined ? { answer } : { completion }) }
  const [verdict] = await requestVerdicts(server, [rollout], options)
  if (json) return printJson(verdict)
  const why = verdict?.fault ?? (verdict?.code ? `${verdict.code}: ${verdict.detail ?? ''}` : '')
  await printLine([verdict?.status, verdict?.reward ?? '', why].join(' ').trimEnd())
}

async function scoreLines(server: ApiClient, file: string | undefined, options: ScoreOptions): Promise<void> {
  const tally = { verdicts: 0, scored: 0, reward: 0, faults: 0 }
  const flush = async (some: unknown[]) => {
    for (const verdict of await requestVerdicts(server, some, options)) {
      tally.verdicts++
      if (verdict.fault) tally.faults++
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
  const mean = tally.scored === 0 ? 'none' : (tally.reward / tally.scored).toFixed(4)
  printStatus(
    `${tally.verdicts} verdicts, mean reward ${mean}, ${tally.faults} faults, ${tally.verdicts - tally.scored} unscored`,
  )
}

async function requestVerdicts(
  server: ApiClient,
  rollouts: unknown[],
  { extraction, dualFormat, scoring }: ScoreOptions,
) {
  const body = { rollouts, extraction, dual_format: dualFormat, scoring }
  return (await server.callWithRetry(ScoreResponse, 'POST', '/score', body)).verdicts
}
