import { expect, it } from 'vitest'
import { formatStartupSummary, type StartupFacts } from '../../src/main/startup-screen.ts'

const FACTS: StartupFacts = {
  version: '0.1.0',
  tasks: 105,
  apiProcesses: 2,
  workers: 1,
  isSmall: false,
  layers: { seccomp: 'on', landlock: 'on' },
  address: 'http://127.0.0.1:8000',
  dataDir: `${process.cwd()}/data`,
  keys: null,
  isDefaultPort: true,
}
const plain = (facts: Partial<StartupFacts> = {}) => formatStartupSummary({ ...FACTS, ...facts }, (_, text) => text)

it('the summary of a start says what runs, where it is, and what to try', () => {
  expect(plain().split('\n').slice(1, 7)).toEqual([
    '● reasoning-gym-server 0.1.0 · 105 tasks · 2 API processes, 1 worker · sandbox 2/2 layers',
    '',
    '  Dashboard  http://127.0.0.1:8000/',
    '  API docs   http://127.0.0.1:8000/docs',
    '  Data       ./data',
    '  API keys   off: every program on this machine has all rights',
  ])
  expect(plain()).toContain('reasoning-gym-server demo ')
})

it('it names what differs from an ordinary start', () => {
  expect(plain({ isSmall: true })).toContain('· 105 tasks · one process for API and jobs ·')
  expect(plain({ keys: 2 })).toContain('API keys   on: 2 keys')
  expect(plain({ layers: { seccomp: 'on', landlock: 'the kernel is too old' } })).toContain('sandbox 1/2 layers: run')
  expect(plain({ layers: undefined })).toContain('the engine is still starting')
  expect(plain({ dataDir: '/srv/gym' })).toContain('Data       /srv/gym')
  const elsewhere = plain({ address: 'http://127.0.0.1:9000', isDefaultPort: false })
  expect(elsewhere).toContain('item sudoku --url http://127.0.0.1:9000')
})
