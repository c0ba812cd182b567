/** schemathesis against a running server's own document: calls by the thousand, right and wrong, each answer held to it. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { requireBody } from '../support/http.ts'
import { ARTIFACTS_DIR, installTools } from './python-tools.ts'

export interface HttpReport {
  calls: number
  failures: string[]
  /** How often each status came. */
  statuses: Record<string, number>
}

const FUZZ_DIR = join(ARTIFACTS_DIR, 'fuzz')

/** Calls until there were so many; each round has its own seed. */
export async function fuzzHttp(url: string, key: string, calls: number, seed: number): Promise<HttpReport> {
  const bin = installTools()
  rmSync(FUZZ_DIR, { recursive: true, force: true })
  mkdirSync(FUZZ_DIR, { recursive: true })
  writeFileSync(join(FUZZ_DIR, 'schemathesis.toml'), buildSchemathesisConfig(await createFixtures(url, key)))
  const report: HttpReport = { calls: 0, failures: [], statuses: {} }
  for (let round = 0; report.calls < calls; round++) {
    const folder = join(FUZZ_DIR, `round-${round}`)
    const config = ['--config-file', join(FUZZ_DIR, 'schemathesis.toml')]
    const run = ['run', `${url}/openapi.json`, '-H', `X-API-Key: ${key}`, '--seed', String(seed + round)]
    // Streams of events never end, which the tool would wait for.
    const streams = ['--exclude-path-regex', '/events$']
    const reports = ['--report', 'json,har', '--report-dir', folder, '--no-color']
    const options = { cwd: FUZZ_DIR, stdio: 'inherit' } as const
    const { status } = spawnSync(join(bin, 'st'), [...config, ...run, ...streams, ...reports], options)
    const made = countCalls(folder, report)
    if (status !== 0 && report.failures.length === 0) report.failures.push(`schemathesis ended with ${status}`)
    if (made === 0) throw new Error('schemathesis made no call')
  }
  return report
}

/** Ids that exist, so that calls get past “there is no such thing”. */
async function createFixtures(url: string, key: string): Promise<Record<keyof typeof PARAMETERS, unknown[]>> {
  const send = (method: string, path: string, body: unknown) =>
    requireBody(method, url + path, { body, key, headers: { prefer: 'wait=30' } })
  const of2 = { group_size: 2, batch_size: 2, min_trained_tokens: 0, drop_equal_scores: false }
  await send('PUT', '/runs/fuzz', { tasks: ['leg_counting', 'gcd'], ...of2 })
  const { items } = await send('POST', '/items', { run: 'fuzz', count: 8 })
  const ids: string[] = items.map(({ id }: { id: string }) => id)
  const group_id = 'fuzz-group'
  const rollouts = [{ completion: '<answer>1</answer>' }, { completion: 'none' }]
  await send('POST', '/rollouts', { run: 'fuzz', item_id: ids[0], group_id, rollouts })
  await send('POST', '/runs/fuzz/batches', { step: 0, final: true })
  const { id } = await send('POST', '/eval', { model: null, suite: 'original' })
  return {
    ids: [...ids, id],
    runs: ['fuzz', 'default'],
    items: ids,
    groups: [group_id],
    tasks: ['leg_counting', 'gcd', 'chain_sum'],
    suites: ['original', 'smoke'],
    steps: [0, 1, 2],
  }
}

/** Where values of each dictionary go. */
const PARAMETERS = {
  runs: ['path.run', 'query.run', 'body.run'],
  tasks: ['path.task', 'body.task'],
  ids: ['path.id'],
  suites: ['path.suite'],
  steps: ['path.step', 'body.step'],
  items: ['body.item_id'],
  groups: ['path.group'],
}

function buildSchemathesisConfig(fixtures: Record<string, unknown[]>): string {
  const dictionary = (name: string, values: unknown[]) => `[dictionaries.${name}]\nvalues = ${JSON.stringify(values)}\n`
  const often = (name: string) => `{ dictionary = "${name}", probability = 0.6 }`
  return [
    'seed = 1',
    'continue-on-failure = true',
    'workers = 1',
    'request-timeout = 90',
    'suppress-health-check = ["all"]',
    'generation.max-examples = 60',
    '[checks]',
    'positive_data_acceptance.enabled = false', // a shape alone does not make an item or a config exist
    '# 503 is honest while items are slow to make; the report counts what came.',
    'not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "503"]',
    '[[operations]]',
    'include-path-regex = "^/eval|/collect/"',
    'checks.use_after_free.enabled = false', // DELETE cancels there: what was measured stays
    ...Object.entries(fixtures).map(([name, known]) => dictionary(name, known)),
    '[parameters]',
    ...Object.entries(PARAMETERS).flatMap(([name, places]) => places.map((place) => `"${place}" = ${often(name)}`)),
  ].join('\n')
}

interface Har {
  log: {
    entries: { response: { status: number } }[]
  }
}

function countCalls(folder: string, report: HttpReport): number {
  let made = 0
  for (const file of readdirSync(folder)) {
    const text = readFileSync(join(folder, file), 'utf8')
    if (file.startsWith('json')) {
      const { failures } = JSON.parse(text) as { failures: { title: string; operations: string[] }[] } // as schemathesis writes it
      report.failures.push(...failures.map(({ title, operations }) => `${title}: ${operations.join(', ')}`))
    } else if (file.startsWith('har')) {
      for (const { response } of (JSON.parse(text) as Har).log.entries) {
        made++
        report.statuses[response.status] = (report.statuses[response.status] ?? 0) + 1
      }
    }
  }
  report.calls += made
  return made
}
