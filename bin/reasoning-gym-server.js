#!/usr/bin/env node
/**
 * Entry point of the command line. A checkout has TypeScript, which Node runs since version 24; a package has what `npm run build`
 * compiled. An older Node starts the one that npm installed beside the other packages.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import net from 'node:net'
import { constants, homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const WANTED = '24.19' // has net.BoundSocket
const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const sources = join(root, 'src', 'main', 'cli.ts')
const cli = existsSync(sources) ? sources : join(root, 'dist', 'src', 'main', 'cli.js')

// Saves half of the startup time. Has no effect if the folder is not writable.
const compileCache = process.env.NODE_COMPILE_CACHE || join(homedir(), '.cache', 'reasoning-gym-server')

if (net.BoundSocket) {
  module.enableCompileCache(compileCache)
  await import(cli)
} else handOver()

function handOver() {
  const node = findNode()
  if (node === undefined) {
    console.error(
      `reasoning-gym-server: Node ${process.versions.node} is too old, and the package node-${process.platform}-${process.arch}, which has a newer one, is missing. Run \`npm ci\` or install Node ${WANTED}`,
    )
    process.exit(1)
  }
  const { LISTEN_PID, LISTEN_FDS } = process.env // systemd passes sockets to this process
  const socketCount = !LISTEN_PID || Number(LISTEN_PID) === process.pid ? Number(LISTEN_FDS) || 0 : 0
  const child = spawn(node, ['--disable-warning=ExperimentalWarning', cli, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', ...Array.from({ length: socketCount }, (_, k) => k + 3)],
    env: {
      ...process.env,
      LISTEN_FDS: String(socketCount),
      LISTEN_PID: undefined,
      NODE_COMPILE_CACHE: compileCache,
      PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}`,
    },
  })
  // The terminal sends Ctrl-C to both processes; this one waits for the child.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => signal !== 'SIGINT' && child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal ?? 'SIGTERM'] ?? 1)))
}

/** npm may install the package of Node 24 beside this one, or in a folder above. */
function findNode() {
  try {
    return createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/bin/node`)
  } catch {
    return undefined
  }
}
