import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { RunSettings } from '../../src/contract/run.ts'
import { EnvironmentSchema } from '../../src/platform/config.ts'
import { type ChildServer, startChildServer } from '../../verification/support/with-server.ts'

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')

let server: ChildServer
beforeAll(async () => {
  server = await startChildServer()
}, 300_000)
afterAll(() => server.stop())

it('the first session runs as it is printed', () => {
  const blocks = [...README.matchAll(/```bash\n([\s\S]*?)```/g)]
    .map(([, code]) => code ?? '')
    .filter((code) => code.includes('curl'))
  expect(blocks.length).toBeGreaterThan(0)
  const script = blocks.join('\n').replaceAll('http://127.0.0.1:8000', server.url)
  const output = execFileSync('bash', ['-euo', 'pipefail', '-c', script]).toString()
  expect(output).toContain('"rewards":[1,0]')
  expect(output).toContain('"status":"scored"')
  expect(output).not.toContain('"code"')
})

it('names every setting of a run and of the process', () => {
  for (const name of Object.keys(RunSettings.shape)) expect(README).toContain(`\`${name}\``)
  for (const name of Object.keys(EnvironmentSchema.shape)) expect(README).toContain(`\`${name}\``)
})

it('links to files that are there', () => {
  for (const [, target] of README.matchAll(/\]\((?!http|#)([^)#]+)/g)) {
    expect([target, existsSync(new URL(`../../${target}`, import.meta.url))]).toEqual([target, true])
  }
})
