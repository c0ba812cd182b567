/**
 * Replays recorded items and scores through a running server and says per task how many are equal.
 *   npm run fidelity -- [--url http://127.0.0.1:8000] FILE.jsonl.gz …     without --url it starts a server of its own
 * Lines with `question` are items, with `completion` whole responses, all others recorded answers with their score.
 */

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { parseArgs } from 'node:util'
import { createGunzip } from 'node:zlib'
import { readLines } from '@reasoning-gym-server/codec/json-lines'
import { areScoresEqual } from './support/score-equality.ts'
import { withScriptServer } from './support/with-server.ts'

interface RecordedLine {
  task: string
  config?: Record<string, unknown>
  seed: number
  index: number
  question?: string
  question_sha256?: string
  answer?: string | null
  completion?: string
  model_answer?: string | null
  score?: number | null
  error?: string
  stable?: boolean
  differs?: string[]
}

interface FidelityCounts {
  items: number
  itemsEqual: number
  scores: number
  scoresEqual: number
}

const CONCURRENCY = 4
/** Tasks whose items depend on `size`, or are bounded by it. */
const SIZE_DEPENDENT_TASKS = new Set(['acre', 'word_ladder', 'gsm_symbolic', 'list_functions'])

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { url: { type: 'string' }, help: { type: 'boolean' } },
})
if (values.help || positionals.length === 0) {
  console.log('npm run fidelity -- [--url http://127.0.0.1:8000] FILE.jsonl.gz …')
  process.exit(values.help ? 0 : 2)
}
// A server of its own has a long deadline, so that a busy machine does not turn scores into timeouts.
const failed = await withScriptServer(values.url, replay, { SCORE_DEADLINE_MS: '20000' })
process.exit(failed ? 1 : 0)

async function replay(url: string): Promise<boolean> {
  const tallies = new Map<string, FidelityCounts>()
  const differences: string[] = []
  for (const file of positionals) {
    const recipes = await readRecipes(file)
    let done = 0
    const queue = recipes.values()
    const work = async () => {
      for (const lines of queue) {
        await compareRecipe(url, lines, tallies, differences)
        done++
        if (process.stderr.isTTY) process.stderr.write(`\r${file}: ${done}/${recipes.size} recipes`)
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, work))
    if (process.stderr.isTTY) process.stderr.write('\n')
  }
  return printReport(tallies, differences)
}

/** The lines of a file by recipe, so that an item is made once. */
async function readRecipes(file: string): Promise<Map<string, RecordedLine[]>> {
  const recipes = new Map<string, RecordedLine[]>()
  const stream = createReadStream(file)
  for await (const text of readLines(file.endsWith('.gz') ? stream.pipe(createGunzip()) : stream)) {
    const line = JSON.parse(text) as RecordedLine // the format of these files
    const key = JSON.stringify([line.task, line.config, line.seed, line.index])
    recipes.set(key, [...(recipes.get(key) ?? []), line])
  }
  return recipes
}

async function compareRecipe(
  url: string,
  lines: RecordedLine[],
  tallies: Map<string, FidelityCounts>,
  differences: string[],
): Promise<void> {
  const [first] = lines
  if (!first) return
  const { size, ...config } = first.config ?? {}
  const recipe = {
    task: first.task,
    seed: first.seed,
    index: first.index,
    config: SIZE_DEPENDENT_TASKS.has(first.task) && size !== undefined ? { ...config, size } : config,
  }
  const tally = tallies.get(first.task) ?? { items: 0, itemsEqual: 0, scores: 0, scoresEqual: 0 }
  tallies.set(first.task, tally)
  const place = `${first.task} seed ${first.seed} index ${first.index}`
  if (first.error === undefined || first.score !== undefined)
    await compareItem(url, recipe, first, tally, place, differences)
  const answers = lines.filter((line) => line.question === undefined)
  for (let k = 0; k < answers.length; k += 100)
    await compareScores(url, recipe, answers.slice(k, k + 100), tally, place, differences)
}

async function compareItem(
  url: string,
  recipe: object,
  line: RecordedLine,
  tally: FidelityCounts,
  place: string,
  differences: string[],
): Promise<void> {
  const posted = await fetchJson(`${url}/items`, recipe)
  const item = posted.items?.[0]
  const revealed =
    item && line.question !== undefined ? await fetchJson(`${url}/items/${item.id}?reveal=true`) : undefined
  const question = item && (line.question_sha256 === undefined || sha256(item.question) === line.question_sha256)
  const answer = line.question === undefined || (revealed && revealed.answer === line.answer)
  tally.items++
  if (question && answer) tally.itemsEqual++
  else
    differences.push(
      `${place}: ${item ? `${question ? 'the answer' : 'the question'} differs` : JSON.stringify(posted)}${line.stable === false ? ' (a task whose items are not stable)' : ''}`,
    )
}

async function compareScores(
  url: string,
  recipe: object,
  lines: RecordedLine[],
  tally: FidelityCounts,
  place: string,
  differences: string[],
): Promise<void> {
  const whole = lines.some((line) => line.completion !== undefined)
  const rollouts = lines.map((line) => ({
    recipe,
    ...(line.completion === undefined ? { answer: line.answer } : { completion: line.completion }),
  }))
  const { verdicts } = await fetchJson(`${url}/score`, {
    rollouts,
    dual_format: false,
    extraction: whole ? 'last_tag' : 'bare',
  })
  lines.forEach((line, k) => {
    const verdict = verdicts?.[k]
    tally.scores++
    const wanted = line.score ?? 0
    // Without an answer the library gives some tasks 0.01; here that is 0, with the fault's name.
    const byOurRule = line.completion !== undefined && (line.model_answer === null || line.score === null)
    if (
      verdict?.status === 'scored' &&
      (areScoresEqual(line.task, verdict.score, wanted) || (byOurRule && verdict.score === 0))
    )
      tally.scoresEqual++
    else
      differences.push(
        `${place}: ${JSON.stringify(line.answer ?? line.completion?.slice(-80))} is ${wanted} there, ${JSON.stringify(verdict)} here`,
      )
  })
}

function printReport(tallies: Map<string, FidelityCounts>, differences: string[]): boolean {
  const total: FidelityCounts = { items: 0, itemsEqual: 0, scores: 0, scoresEqual: 0 }
  console.log('| task | items equal | scores equal |\n|---|---|---|')
  for (const [task, tally] of [...tallies].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    console.log(`| ${task} | ${tally.itemsEqual}/${tally.items} | ${tally.scoresEqual}/${tally.scores} |`)
    for (const key of ['items', 'itemsEqual', 'scores', 'scoresEqual'] as const) total[key] += tally[key]
  }
  console.log(`| all | ${total.itemsEqual}/${total.items} | ${total.scoresEqual}/${total.scores} |`)
  const unstable = differences.filter((line) => line.includes('(a task whose items are not stable)'))
  if (differences.length > 0) console.log(`\nDifferences:\n${differences.join('\n')}`)
  return differences.length > unstable.length
}

// biome-ignore lint/suspicious/noExplicitAny: read by the comparisons above, which fail where a field is not there
async function fetchJson(address: string, body?: unknown): Promise<any> {
  const init =
    body === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(address, init)
  return response.json()
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
