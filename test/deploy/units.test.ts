/** The example of docs/operations/many-machines.md: its settings are those of the server, and its unit runs a command. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { readConfig } from '../../src/platform/environment.ts'

const PAGE = readFileSync('docs/operations/many-machines.md', 'utf8')
const [settings = '', unit = ''] = [...PAGE.matchAll(/^```ini\n([\s\S]*?)^```$/gm)].map(([, block]) => block)

it('the file of settings is read as it is printed', () => {
  const environment = Object.fromEntries(
    settings
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/).slice(0, 2)),
  )
  expect(readConfig(environment)).toMatchObject({
    HOST: '0.0.0.0',
    API_KEYS_FILE: '/etc/gym/keys',
    DATA_DIR: '/srv/gym',
  })
})

it('the unit runs a command of the server, and so does that of the worker', () => {
  const [, program = '', command = ''] = /^ExecStart=\/opt\/reasoning-gym-server\/(\S+) (\w+)$/m.exec(unit) ?? []
  expect(unit).toMatch(/^EnvironmentFile=\/etc\/reasoning-gym.env$/m)
  const help = execFileSync(process.execPath, [program, '--help'], { encoding: 'utf8' })
  for (const name of [command, 'worker']) expect(help).toMatch(new RegExp(`^ +${name} `, 'm'))
})
