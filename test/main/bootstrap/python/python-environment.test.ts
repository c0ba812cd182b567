import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest'
import { ensurePythonEnvironment } from '../../../../src/main/bootstrap/python/python-environment.ts'

beforeAll(() => void vi.stubEnv('ENGINE_PYTHON', ''))
afterAll(() => void vi.unstubAllEnvs())

async function resolve(wanted?: string): Promise<{ python: string; logged: string[]; warned: string[] }> {
  const logged: string[] = []
  const warned: string[] = []
  const python = await ensurePythonEnvironment(
    (line) => logged.push(line),
    wanted,
    (line) => warned.push(line),
  )
  return { python, logged, warned }
}

it('a PYTHON that is not there is told, once the environment is made and needs none', async () => {
  const python = inject('python')
  for (const wanted of ['/nope/python', 'no-such-python']) {
    const answer = await resolve(wanted)
    expect(answer).toEqual({ python, logged: [], warned: [expect.stringContaining(`PYTHON=${wanted} cannot be run`)] })
    expect(answer.warned[0]).toContain(`${python} is used`)
  }
})

it('one that is there, or none, is nothing to speak of', async () => {
  const python = inject('python')
  for (const wanted of [undefined, python, process.execPath]) {
    expect(await resolve(wanted)).toEqual({ python, logged: [], warned: [] })
  }
})
