import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { disableWorkaround, WORKAROUNDS } from '../../bench/ablation/workarounds.ts'

const ROOT = join(import.meta.dirname, '..', '..')

it.each(Object.entries(WORKAROUNDS))('%s can be disabled: its source has the place to edit', (name, { file }) => {
  const source = readFileSync(join(ROOT, file), 'utf8')
  expect(disableWorkaround(source, name)).not.toBe(source)
})

it('a process that the benchmark starts runs without the workaround', () => {
  const script = `
    const { detachBuffer } = await import('@reasoning-gym-server/codec/detach-buffer')
    const bytes = new Uint8Array(8)
    detachBuffer(bytes)
    console.log(bytes.length)`
  const run = (...flags: string[]) =>
    execFileSync(process.execPath, [...flags, '--input-type=module', '--eval', script], {
      cwd: ROOT,
      env: { ...process.env, BENCH_WITHOUT: 'detach-buffer' },
    })
      .toString()
      .trim()
  expect(run()).toBe('0')
  expect(run('--import', join(ROOT, 'bench', 'ablation', 'preload.ts'))).toBe('8')
})
