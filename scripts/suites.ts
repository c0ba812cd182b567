/**
 * Makes the suites that are not frozen yet, or proves that the engine still makes the frozen ones.
 *   npm run suites                      writes suites/*.tsv and suites/suites.json
 *   npm run suites -- --verify [NAME …] makes every item again and compares
 *   npm run suites -- --struck          writes suites/struck.tsv, the items of frozen suites that have a flaw
 * A file holds a line `id TAB sha256(question)` for each item, so the suite's hash is the sha256 of its file.
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import { PythonEngine } from '../src/engine/python-engine.ts'
import { readSuiteLines, readSuiteManifest } from '../src/features/items/eval-questions.ts'
import { Ladders } from '../src/features/tasks/ladders.ts'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python/python-environment.ts'
import { buildSuitePlans, type SuiteSource } from './suites/plans.ts'
import { findFlaws, makeItems, makePart, replaceFlawed, type SuiteLine } from './suites/select.ts'

const SUITES_DIR = join(import.meta.dirname, '..', 'suites')
/** Half of what a server gives an item, so that a slow machine makes it too. */
const MAKE_DEADLINE_MS = 5000
const VERIFY_DEADLINE_MS = 60_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { verify: { type: 'boolean' }, struck: { type: 'boolean' } },
})
const isWanted = ({ name }: { name: string }) => positionals.length === 0 || positionals.includes(name)
const python = await ensurePythonEnvironment(console.log)
if (values.struck) await writeStruckItems()
else process.exitCode = values.verify ? await verifySuites() : await writeSuites()

async function withEngine<T>(makeDeadlineMs: number, use: (engine: PythonEngine) => Promise<T>): Promise<T> {
  const engine = new PythonEngine({ pythonPath: python, workersPerPool: 2, scoreDeadlineMs: 2000, makeDeadlineMs })
  await engine.waitUntilStarted()
  try {
    return await use(engine)
  } finally {
    await engine.close()
  }
}

async function writeSuites(): Promise<number> {
  const manifest = readSuiteManifest()
  const frozen = new Set(manifest.map(({ name }) => name))
  for (const { name, version, description, source } of buildSuitePlans(new Ladders()).filter(isWanted)) {
    if (frozen.has(name)) continue
    const started = Date.now()
    // Two engines: what two processes make differently is left out.
    const lines = await withEngine(MAKE_DEADLINE_MS, (engine) =>
      withEngine(MAKE_DEADLINE_MS, (other) => makeLines(source, [engine, other])),
    )
    const text = lines.map(({ id, hash }) => `${id}\t${hash}\n`).join('')
    writeFileSync(join(SUITES_DIR, `${name}.tsv`), text)
    manifest.push({ name, version, items: lines.length, sha256: sha256(text), description })
    writeFileSync(join(SUITES_DIR, 'suites.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    console.log(`${name}: ${lines.length} items in ${Math.round((Date.now() - started) / 1000)} s`)
  }
  return 0
}

async function makeLines(source: SuiteSource, engines: PythonEngine[]): Promise<SuiteLine[]> {
  if (source.kind === 'mended') return replaceFlawed(engines, readFrozenLines(source.of))
  const lines: SuiteLine[] = []
  const seen = new Set<string>()
  for (const part of source.parts) {
    const made = await makePart(engines, part, seen)
    if (made.length < part.count) console.log(`${part.task} at ${part.difficulty}: only ${made.length} items`)
    lines.push(...made)
  }
  return lines
}

/** A line `suite TAB id TAB flaw` for each item. */
async function writeStruckItems(): Promise<void> {
  const struck: string[] = []
  await withEngine(VERIFY_DEADLINE_MS, async (engine) => {
    for (const { name } of readSuiteManifest()) {
      const flaws = await findFlaws(engine, readFrozenLines(name))
      struck.push(...[...flaws].map(([id, flaw]) => `${name}\t${id}\t${flaw}\n`))
      console.log(`${name}: ${flaws.size} items have a flaw`)
    }
  })
  writeFileSync(join(SUITES_DIR, 'struck.tsv'), struck.join(''))
}

async function verifySuites(): Promise<number> {
  let wrong = 0
  await withEngine(VERIFY_DEADLINE_MS, async (engine) => {
    for (const { name } of readSuiteManifest().filter(isWanted)) {
      const lines = readFrozenLines(name)
      const items = await makeItems(
        engine,
        lines.map(({ id }) => decodeItemId(id)),
      )
      const differing = lines.filter(({ hash }, k) => sha256(items[k]?.question ?? '') !== hash)
      for (const { id } of differing.slice(0, 5)) console.log(`${name}: ${id} is made otherwise, or not at all`)
      console.log(
        `${name}: ${lines.length} items, ${differing.length === 0 ? 'as frozen' : `${differing.length} differ`}`,
      )
      if (differing.length > 0) wrong++
    }
  })
  return wrong > 0 ? 1 : 0
}

function readFrozenLines(name: string): SuiteLine[] {
  const suite = readSuiteManifest().find((one) => one.name === name)
  if (!suite) throw new Error(`there is no suite ${name}`)
  return readSuiteLines(suite).map((line) => {
    const [id = '', hash = ''] = line.split('\t')
    return { id, hash }
  })
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
