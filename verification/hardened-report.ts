/**
 * What hardened scoring changes of recorded verdicts: how many per task, up and down, with examples.
 *   npm run verify -- hardened-report [--examples 2] FILE.jsonl.gz …
 * A line holds task, config, seed, index, answer and the library's score.
 */
import { createReadStream } from 'node:fs'
import { parseArgs } from 'node:util'
import { createGunzip } from 'node:zlib'
import { readLines } from '@reasoning-gym-server/codec/json-lines'
import { PythonEngine } from '../src/engine/python-engine.ts'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python-environment.ts'
import { makeHardenedItems } from './reward-hacks/hardened-item.ts'

interface RecordedScore {
  task: string
  config: Record<string, unknown>
  seed: number
  index: number
  answer: string
  score: number
}

interface ScoreChangeCounts {
  answers: number
  before: number
  after: number
  /** From less than 1 to 1, and from 1 to less. */
  toOne: number
  fromOne: number
  up: string[]
  down: string[]
}

const SCORE_TOLERANCE = 1e-9

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { examples: { type: 'string', default: '2' }, help: { type: 'boolean' } },
})
if (values.help || positionals.length === 0) {
  console.log('npm run verify -- hardened-report [--examples 2] FILE.jsonl.gz …')
  process.exit(values.help ? 0 : 2)
}
const engine = new PythonEngine({
  pythonPath: await ensurePythonEnvironment(console.error),
  workersPerPool: 1,
  scoreDeadlineMs: 10_000,
  makeDeadlineMs: 30_000,
})
await engine.waitUntilStarted()
const tallies = new Map<string, ScoreChangeCounts>()
for (const lines of (await readRecipes(positionals)).values()) await compareRecipe(lines)
await engine.close()
printReport(Number(values.examples))

/** The lines by recipe, so that an item is made once. */
async function readRecipes(files: readonly string[]): Promise<Map<string, RecordedScore[]>> {
  const recipes = new Map<string, RecordedScore[]>()
  for (const file of files) {
    const stream = createReadStream(file)
    for await (const text of readLines(file.endsWith('.gz') ? stream.pipe(createGunzip()) : stream)) {
      const line = JSON.parse(text) as RecordedScore // the format of these files
      if (typeof line.answer !== 'string' || typeof line.score !== 'number') continue
      const key = JSON.stringify([line.task, line.config, line.seed, line.index])
      recipes.set(key, [...(recipes.get(key) ?? []), line])
    }
  }
  return recipes
}

async function compareRecipe(lines: readonly RecordedScore[]): Promise<void> {
  const [{ task, config, seed, index } = lines[0] as RecordedScore] = lines // a recipe has lines
  const [item] = await makeHardenedItems(engine, task, await engine.canonicalizeConfig(task, config), [[seed, index]])
  if (item === undefined) {
    console.error(`${task} ${seed} ${index}: not made`)
    return
  }
  const tally = tallies.get(task) ?? { answers: 0, before: 0, after: 0, toOne: 0, fromOne: 0, up: [], down: [] }
  tallies.set(task, tally)
  const scores = await item.score(lines.map(({ answer }) => answer))
  for (const [k, { answer, score: before }] of lines.entries())
    countChange(tally, answer, before, scores[k] ?? 0, item.entry.answer)
}

function countChange(
  tally: ScoreChangeCounts,
  answer: string,
  before: number,
  after: number,
  oracle: string | null,
): void {
  tally.answers++
  tally.before += before
  tally.after += after
  if (Math.abs(after - before) <= SCORE_TOLERANCE) return
  if (after === 1) tally.toOne++
  if (before === 1) tally.fromOne++
  const wanted = oracle === null ? '' : ` (oracle ${formatShort(oracle)})`
  const list = after > before ? tally.up : tally.down
  list.push(`${formatScore(before)} to ${formatScore(after)}: ${formatShort(answer)}${wanted}`)
}

function printReport(examples: number): void {
  const all = [...tallies].toSorted(([a], [b]) => (a < b ? -1 : 1))
  console.log('| task | answers | mean before | mean after | up | to 1 | down | from 1 |')
  console.log('|---|---|---|---|---|---|---|---|')
  for (const [task, tally] of all) console.log(formatRow(task, tally))
  const sum = (of: (tally: ScoreChangeCounts) => number) => all.reduce((total, [, tally]) => total + of(tally), 0)
  const total = { answers: sum((t) => t.answers), before: sum((t) => t.before), after: sum((t) => t.after) }
  const lists = { up: all.flatMap(([, { up }]) => up), down: all.flatMap(([, { down }]) => down) }
  console.log(formatRow('all', { ...total, ...lists, toOne: sum((t) => t.toOne), fromOne: sum((t) => t.fromOne) }))
  for (const [task, { up, down }] of all) {
    for (const example of up.slice(0, examples)) console.log(`${task}, up, ${example}`)
    for (const example of down.toSorted().reverse().slice(0, examples)) console.log(`${task}, down, ${example}`)
  }
}

function formatRow(task: string, { answers, before, after, toOne, fromOne, up, down }: ScoreChangeCounts): string {
  const means = `${(before / answers).toFixed(3)} | ${(after / answers).toFixed(3)}`
  return `| ${task} | ${answers} | ${means} | ${up.length} | ${toOne} | ${down.length} | ${fromOne} |`
}

/** Two places, but never 1 for what is less. */
function formatScore(score: number): string {
  return score < 1 && score >= 0.995 ? score.toFixed(4) : score.toFixed(2)
}

function formatShort(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 97)}...` : text)
}
