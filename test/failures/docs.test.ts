import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')

it('every row of docs/operations/failures.md names a test that is there', () => {
  const rows = readFileSync(join(ROOT, 'docs', 'operations', 'failures.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|(?: what fails \||---)/.test(line))
  expect(rows.length).toBeGreaterThan(10)
  for (const row of rows) {
    expect(row.split('|')[2], `the status of /readyz: ${row}`).toMatch(/^ (200|503|none)\b/)
    const cell = row.split('|').at(-2) ?? ''
    const named = [...cell.matchAll(/`([\w./-]+\.ts)`(?:: ([^;]+))?/g)]
    expect(named.length, row).toBeGreaterThan(0)
    for (const [, file = '', title = ''] of named) {
      const path = join(ROOT, file.includes('/') ? file : join('test', 'failures', file))
      expect(existsSync(path), path).toBe(true)
      for (const part of title.split(', ')) expect(readFileSync(path, 'utf8')).toContain(part.trim())
    }
  }
})
