/**
 * The installed program: where its files are, its version, and its environment, which no other file of `src` reads. A checkout
 * runs TypeScript; a package holds JavaScript that `npm run build` compiled.
 */
import { accessSync, constants, mkdirSync, readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { homedir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { readEnvironment } from '@reasoning-gym-server/contract/dot-env'

/** The folder of package.json, src, routes and suites. */
export const APP_ROOT = join(import.meta.dirname, '..', '..')

const { version } = JSON.parse(readFileSync(join(APP_ROOT, 'package.json'), 'utf8')) as { version: string } // npm requires one

/** The server's own version. */
export const VERSION = version

const EXTENSION = extname(import.meta.filename)

/** Whether this is an installed package, whose folder may be read-only or shared by users, and not a checkout. */
export const IS_PACKAGE = EXTENSION === '.js'

/** The path of a module that runs as a process or thread of its own. `name` has no extension. */
export function getModulePath(folder: string, name: string): string {
  return join(folder, name + EXTENSION)
}

/** The folder of an installed npm package; undefined if it is missing. */
export function findPackageFolder(name: string): string | undefined {
  try {
    const path = findPackageJSON(name, import.meta.url)
    return path === undefined ? undefined : dirname(path)
  } catch {
    return undefined
  }
}

/** The folder of the user's cache for this program. */
export function getCacheFolder(): string {
  return join(readEnvironment().XDG_CACHE_HOME || join(homedir(), '.cache'), 'reasoning-gym-server')
}

/**
 * Lets a process keep V8's compile cache, and the JavaScript of TypeScript: half of the startup work, and 20 MB for the compiler.
 * Empty if the folder is not writable, as in the container image.
 */
export function createCompileCacheEnv(): { NODE_COMPILE_CACHE?: string } {
  const folder = IS_PACKAGE ? getCacheFolder() : join(APP_ROOT, 'node_modules', '.cache', 'reasoning-gym-server')
  try {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.W_OK)
    return { NODE_COMPILE_CACHE: folder }
  } catch {
    return {}
  }
}

/** Whether the variable is set, in the environment or in `.env`, rather than left at its default. */
export function isVariableSet(name: string): boolean {
  return (readEnvironment()[name] ?? '') !== ''
}

/** The interpreter that already has the packages of requirements.txt, such as that of `pip install`; undefined if the server makes one. */
export function getEnginePython(): string | undefined {
  return readEnvironment().ENGINE_PYTHON || undefined
}

const LIBRARY_SOCKET_VARIABLE = 'RGS_LIBRARY_SOCKET'

/** The socket of the process that has imported the library, which `npm start` has set for its child processes. */
export function getLibrarySocket(): string | undefined {
  return readEnvironment()[LIBRARY_SOCKET_VARIABLE] || undefined
}

export function createLibrarySocketEnv(path: string): Record<string, string> {
  return { [LIBRARY_SOCKET_VARIABLE]: path }
}

const FIRST_INHERITED_FD = 3

/**
 * File descriptors of the listening sockets that this process has inherited, from systemd or `npm start`. As systemd defines it,
 * they begin at 3 and LISTEN_FDS has their number; they belong to another process if LISTEN_PID names one.
 */
export function getInheritedSockets(): number[] {
  const { LISTEN_FDS, LISTEN_PID } = readEnvironment()
  const isOwner = !LISTEN_PID || Number(LISTEN_PID) === process.pid
  const count = isOwner ? Number(LISTEN_FDS) || 0 : 0
  return Array.from({ length: count }, (_, index) => FIRST_INHERITED_FD + index)
}

/** For a child process that gets `count` sockets as its file descriptors from 3 on. */
export function createInheritedSocketsEnv(count: number): Record<string, string | undefined> {
  return { LISTEN_FDS: String(count), LISTEN_PID: undefined }
}

/** The environment for a child process: this process's, with changes. */
export function buildChildEnvironment(changes: Record<string, string | undefined>): NodeJS.ProcessEnv {
  return { ...process.env, ...changes }
}

/** Lets command-line options override environment variables. */
export function overrideEnvironment(changes: Record<string, string | number | true | undefined>): void {
  for (const [name, value] of Object.entries(changes)) if (value !== undefined) process.env[name] = String(value)
}
