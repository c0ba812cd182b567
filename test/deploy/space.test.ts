import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../../src/platform/environment.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const readSpace = (file: string) => read(`deploy/huggingface-space/${file}`)

it('the files of the Space name one version and one port, and settings that the server knows', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string }
  const [, frontMatter = ''] = readSpace('README.md').split(/^---$/m)
  const manifest = parse(readSpace('openenv.yaml')) as { version: string; port: number }
  const dockerfile = readSpace('Dockerfile')
  const settings = Object.fromEntries(
    [...dockerfile.matchAll(/([A-Z_]+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  )
  expect(manifest.version).toBe(version)
  for (const name of ['server', 'client\\[openenv\\]'])
    expect(dockerfile).toMatch(new RegExp(`reasoning-gym-${name}==${version}`))
  expect(readSpace('pyproject.toml')).toContain(`version = "${version}"`)
  expect(parse(frontMatter)).toMatchObject({ sdk: 'docker', app_port: manifest.port })
  const { PORT, SMALL, DATA_DIR, REASONING_GYM_URL } = readConfig(settings)
  expect({ SMALL, DATA_DIR, REASONING_GYM_URL }).toEqual({
    SMALL: true,
    DATA_DIR: '/data',
    REASONING_GYM_URL: `http://127.0.0.1:${PORT}`,
  })
  expect(dockerfile).toContain(`serve openenv --host 0.0.0.0 --port ${manifest.port}`)
})
