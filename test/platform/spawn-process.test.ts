import { expect, it, vi } from 'vitest'
import { spawnProcess } from '../../src/platform/spawn-process.ts'

it.each([
  ['a process that ends', 'sh', ['-c', 'exit 3'], 'ended (3)'],
  ['one that is killed', 'sh', ['-c', 'kill -9 $$'], 'ended (SIGKILL)'],
  ['a program that is not there', '/nowhere/program', [], 'could not be started: spawn /nowhere/program ENOENT'],
  ['what the system refuses', 'true', ['x'.repeat(4_000_000)], 'could not be started: spawn E2BIG'],
])('tells the end of %s once', async (_what, command, args, how) => {
  const onEnd = vi.fn()
  const child = spawnProcess(command, args, { stdio: 'ignore' }, onEnd)
  expect(onEnd).not.toHaveBeenCalled() // the caller must first know the process
  await expect.poll(() => onEnd.mock.calls).toEqual([[how]])
  expect(child !== undefined).toBe(how.startsWith('ended'))
})
