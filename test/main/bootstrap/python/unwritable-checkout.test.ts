/** A checkout of root, and an ordinary user who starts a server in it: one line says what is wrong, and doctor sees it too. */
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { buildChildEnvironment, createLibrarySocketEnv } from '../../../../src/platform/installation.ts'
import { getFreePort } from '../../../../verification/support/with-server.ts'
import { createOrdinaryUser, type OrdinaryUser } from '../ordinary-user.ts'

const PROJECT = join(import.meta.dirname, '../../../..')
const PARTS = ['bin', 'src', 'routes', 'packages', 'suites', 'package.json', 'requirements.txt']
const SLOW = { timeout: 120_000 }

const nobody = createOrdinaryUser()
const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A checkout of root without .venv. */
function createCheckout({ createForeignFolder }: { createForeignFolder(): string }): string {
  const root = createForeignFolder()
  folders.push(root)
  for (const part of PARTS) cpSync(join(PROJECT, part), join(root, part), { recursive: true })
  symlinkSync(join(PROJECT, 'node_modules'), join(root, 'node_modules'))
  return root
}

it.for([
  { name: 'nobody', user: nobody },
  { name: '12345', user: createOrdinaryUser(12_345) }, // has no name
])('names the folder that the user $name cannot write to', SLOW, async ({ name, user }, context) => {
  if ('reason' in user) return context.skip(user.reason)
  const root = createCheckout(user)
  const started = await run(user, root, 'src/main/serve.ts')
  expect(started.stderr).toBe(
    `reasoning-gym-server: ${root} cannot be written (EACCES), but the Python environment must be created there: make it writable for this user (${name}), or run the first start as its owner\n`,
  )
  expect(started.status).toBe(1)
  const doctor = await run(user, root, 'src/main/cli.ts', 'doctor')
  expect(doctor.stdout).toContain(`✗ Checkout  ${root} is not writable (EACCES), but the next start must create .venv`)
  expect(doctor.stdout).toContain('! Library   not installed yet')
  expect(doctor.status).toBe(1)
})

it('tells an environment that this user cannot run apart from none', SLOW, async (context) => {
  if ('reason' in nobody) return context.skip(nobody.reason)
  const root = createCheckout(nobody)
  const hidden = nobody.createForeignFolder() // as a pyenv of root
  folders.push(hidden)
  symlinkSync('/usr/bin/env', join(hidden, 'python3'))
  chmodSync(hidden, 0o700)
  mkdirSync(join(root, '.venv', 'bin'), { recursive: true })
  symlinkSync(join(hidden, 'python3'), join(root, '.venv', 'bin', 'python'))
  const python = join(root, '.venv', 'bin', 'python')
  const started = await run(nobody, root, 'src/main/serve.ts')
  expect(started.stderr).toContain(`${python} is there, but this user cannot run it. A new one cannot be made: ${root}`)
  expect(started.status).toBe(1)
  const doctor = await run(nobody, root, 'src/main/cli.ts', 'doctor')
  expect(doctor.stdout).toContain(`✗ Python    ${python} exists, but you cannot run it`)
  expect(doctor.stdout).toContain(`✗ Checkout  ${root} is not writable (EACCES)`)
})

/** The program ends by itself, and soon: a start that hung would be ended with the test. */
async function run(user: OrdinaryUser, root: string, script: string, ...args: string[]) {
  const data = user.createFolder()
  folders.push(data)
  const [command, ...words] = user.command([process.execPath, join(root, script), ...args])
  const { status, stdout, stderr } = spawnSync(command, words, {
    cwd: data,
    env: buildChildEnvironment({
      ...createLibrarySocketEnv(''),
      DATA_DIR: data,
      PORT: String(await getFreePort()),
      NODE_NO_WARNINGS: '1',
    }),
    timeout: 60_000,
  })
  return { status, stdout: String(stdout), stderr: String(stderr) }
}
