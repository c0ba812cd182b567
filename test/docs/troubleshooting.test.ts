/** docs/operations/troubleshooting.md quotes what the server and its doctor say. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ERROR_CODES } from '@reasoning-gym-server/contract/errors'
import { RunState } from '@reasoning-gym-server/contract/run'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const PAGE = readFileSync(join(ROOT, 'docs', 'operations', 'troubleshooting.md'), 'utf8')
const sources = (folder: string): string =>
  readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n')

it('findings of the doctor are those that it has', () => {
  const doctor = sources('src/main/commands/doctor')
  const quoted = [...PAGE.matchAll(/`[✗!] (\w+)/g)].map(([, name]) => name)
  expect(quoted.length).toBeGreaterThan(8)
  for (const name of quoted) expect(doctor).toMatch(new RegExp(`(ok|warn|fail)\\(\\s*'${name}'`))
})

it('codes and states are those of the API', () => {
  const codes = [...PAGE.matchAll(/\b[45]\d\d `(\w+)`/g)].map(([, code]) => code)
  expect(codes.length).toBeGreaterThan(8)
  for (const code of codes) expect(ERROR_CODES).toContain(code)
  for (const state of RunState.shape.is.options) expect(PAGE).toContain(`\n- \`${state}\`: `)
})

it('messages at startup are those that the server prints', () => {
  const printed =
    `${sources('src')} ${sources('packages')} ${readFileSync(join(ROOT, 'bin/reasoning-gym-server.js'), 'utf8')}`.toLowerCase()
  const section = PAGE.split(/^## /m).find((part) => part.startsWith('The server does not start')) ?? ''
  const entries = [...section.matchAll(/^- \*\*(.+?)\*\*/gm)].map(([, entry = '']) => entry)
  const quotes = entries.flatMap((entry) => [...entry.matchAll(/`([^`]+)`/g)].map(([, quote = '']) => quote))
  expect(entries.length).toBeGreaterThan(20)
  const parts = quotes.flatMap((quote) => quote.split('…')).map((part) => part.trim().toLowerCase())
  expect(parts.filter((part) => !printed.includes(part))).toEqual([])
})
