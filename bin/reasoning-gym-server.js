#!/usr/bin/env node
/**
 * Entry point of the command line in a checkout. The sources are TypeScript, which Node runs since version 24. An older Node
 * starts the Node 24 that `npm ci` installed into node_modules.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

const WANTED = 24
const root = join(import.meta.dirname ?? dirname(new URL(import.meta.url).pathname), '..')
const cli = join(root, 'src', 'cli', 'main.ts')

if (Number.parseInt(process.versions.node, 10) >= WANTED) await import(cli)
else handOver()

function handOver() {
  const bin = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin')
  const node = join(bin, 'node')
  if (!existsSync(node)) {
    console.error(
      `reasoning-gym-server: Node ${process.versions.node} is too old, and ${node} is missing. Run \`npm ci\` or install Node ${WANTED}`,
    )
    process.exit(1)
  }
  const child = spawn(node, ['--disable-warning=ExperimentalWarning', cli, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ''}` },
  })
  // The terminal sends Ctrl-C to both processes; this one waits for the child.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => signal !== 'SIGINT' && child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal ?? 'SIGTERM'] ?? 1)))
}
