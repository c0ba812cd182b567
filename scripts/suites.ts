/**
 * Makes the frozen suites, or proves that the engine still makes them.
 *   npm run suites                      writes suites/*.tsv and suites/suites.json
 *   npm run suites -- --verify [NAME …] makes every item again and compares
 * A file holds a line `id TAB sha256(question)` for each item, so the suite's hash is the sha256 of its file.
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { decodeItemId, encodeItemId } from '../src/contract/item-id.ts'
import type { Recipe } from '../src/contract/recipe.ts'
import type { GeneratedItem } from '../src/engine/engine.ts'
import { PythonEngine } from '../src/engine/python-engine.ts'
import { Ladders } from '../src/features/tasks/ladders.ts'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python-environment.ts'
import { buildSuitePlans, type SuitePart } from './suites/plans.ts'

const SUITES_DIR = join(import.meta.dirname, '..', 'suites')
/** Half of what a server gives an item, so that a slow machine makes it too. */
const MAKE_DEADLINE_MS = 5000
const VERIFY_DEADLINE_MS = 60_000
/** Indices that are tried for the items of a part, beyond their number. */
const SPARE_INDICES = 30

interface SuiteLine {
  id: string
  question: string
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { verify: { type: 'boolean' } } })
const plans = buildSuitePlans(new Ladders()).filter(
  ({ name }) => positionals.length === 0 || positionals.includes(name),
)
const python = await ensurePythonEnvironment(console.log)
process.exitCode = values.verify ? await verifySuites() : await writeSuites()

async function withEngine<T>(makeDeadlineMs: number, use: (engine: PythonEngine) => Promise<T>): Promise<T> {
  const engine = new PythonEngine({ pythonPath: python, workersPerPool: 2, scoreDeadlineMs: 2000, makeDeadlineMs })
  await engine.waitUntilStarted()
  try {
    return await use(engine)
  } finally {
    await engine.close()
  }
}

/** Every item is made twice, the second time backwards in other processes; what differs or is slow gives way to the next. */
async function writeSuites(): Promise<number> {
  const manifest = JSON.parse(readFileSync(join(SUITES_DIR, 'suites.json'), 'utf8')) as { name: string }[] // written below
  for (const { name, version, description, parts } of plans) {
    const started = Date.now()
    const first = await withEngine(MAKE_DEADLINE_MS, (engine) => makeParts(engine, parts))
    const again = await withEngine(MAKE_DEADLINE_MS, (engine) => makeParts(engine, parts.toReversed()))
    again.reverse()
    const lines: SuiteLine[] = []
    parts.forEach((part, k) => {
      const second = new Map(again[k]?.map(({ id, question }) => [id, question]))
      const stable = (first[k] ?? []).filter(({ id, question }) => second.get(id) === question).slice(0, part.count)
      if (stable.length < part.count) throw new Error(`${part.task}: only ${stable.length} items can be made`)
      const last = decodeItemId(stable.at(-1)?.id ?? '').index
      if (last >= part.count) console.log(`${name}: ${part.task} leaves out ${last + 1 - part.count}`)
      lines.push(...stable)
    })
    const text = lines.map(({ id, question }) => `${id}\t${sha256(question)}\n`).join('')
    writeFileSync(join(SUITES_DIR, `${name}.tsv`), text)
    const entry = { name, version, items: lines.length, sha256: sha256(text), description }
    const at = manifest.findIndex((suite) => suite.name === name)
    if (at < 0) manifest.push(entry)
    else manifest[at] = entry
    writeFileSync(join(SUITES_DIR, 'suites.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    console.log(`${name}: ${lines.length} items in ${Math.round((Date.now() - started) / 1000)} s`)
  }
  return 0
}

/** The items of each part that could be made, with some to spare. */
async function makeParts(engine: PythonEngine, parts: SuitePart[]): Promise<SuiteLine[][]> {
  const made: SuiteLine[][] = []
  for (const part of parts) {
    const config = Object.keys(part.config).length === 0 ? {} : await engine.canonicalizeConfig(part.task, part.config)
    const lines: SuiteLine[] = []
    for (let from = 0; lines.length < part.count + 1 && from < part.count + SPARE_INDICES; ) {
      const indices = Array.from({ length: part.count + 1 - lines.length }, (_, k) => from + k)
      from += indices.length
      const outcomes = await engine.generateItems(
        part.task,
        config,
        indices.map((index) => [part.seed, index]),
      )
      outcomes.forEach((outcome, k) => {
        if (outcome.kind !== 'value') return
        const recipe = { ...part, config, index: indices[k] ?? 0, engine: engine.version }
        lines.push({ id: encodeItemId(recipe), question: (outcome.value as GeneratedItem).question }) // as host.py makes items
      })
    }
    made.push(lines)
  }
  return made
}

async function verifySuites(): Promise<number> {
  let wrong = 0
  const manifest = JSON.parse(readFileSync(join(SUITES_DIR, 'suites.json'), 'utf8')) as {
    name: string
    sha256: string
  }[] // written above
  await withEngine(VERIFY_DEADLINE_MS, async (engine) => {
    for (const { name } of plans) {
      const text = readFileSync(join(SUITES_DIR, `${name}.tsv`), 'utf8')
      const lines = text
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t'))
      const recipes = lines.map(([id]) => decodeItemId(id ?? ''))
      const questions = await makeQuestions(engine, recipes)
      const stored = manifest.find((suite) => suite.name === name)?.sha256
      const made = lines.map(([id], k) => `${id}\t${sha256(questions[k] ?? '')}\n`).join('')
      const differing = lines.filter(([, hash], k) => sha256(questions[k] ?? '') !== hash)
      for (const [id] of differing.slice(0, 5)) console.log(`${name}: ${id} is made otherwise, or not at all`)
      const good = sha256(made) === stored
      console.log(`${name}: ${lines.length} items, ${good ? 'as frozen' : `${differing.length} differ`}`)
      if (!good) wrong++
    }
  })
  return wrong > 0 ? 1 : 0
}

/** The questions of recipes, in order; undefined where one cannot be made. */
async function makeQuestions(engine: PythonEngine, recipes: Recipe[]): Promise<(string | undefined)[]> {
  const questions: (string | undefined)[] = []
  const groups = Map.groupBy(recipes.keys(), (k) => `${recipes[k]?.task} ${JSON.stringify(recipes[k]?.config)}`)
  for (const places of groups.values()) {
    const at = [...places]
    const some = at.flatMap((k) => recipes[k] ?? [])
    const [one] = some
    if (!one) continue
    const outcomes = await engine.generateItems(
      one.task,
      one.config,
      some.map(({ seed, index }) => [seed, index]),
    )
    at.forEach((k, n) => {
      const outcome = outcomes[n]
      questions[k] = outcome?.kind === 'value' ? (outcome.value as GeneratedItem).question : undefined // as host.py makes items
    })
  }
  return questions
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
