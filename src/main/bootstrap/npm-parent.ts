/**
 * Ends a server that `npm start` or `npx` started when npm ends. npm passes SIGINT and SIGTERM on, but a killed npm, or a shell
 * between npm and the server, would leave the server running. Under nohup, systemd or a container npm lives as long as the server.
 */
import { readFileSync } from 'node:fs'
import { HAS_PROC } from '../../platform/process-state.ts'

const POLL_INTERVAL_MS = 1000
/** npm, a shell, and the launcher with an older Node. */
const MAX_GENERATIONS = 4

interface ProcessParent {
  pid: number
  parent: number
}

/** Calls `end` once when the line of processes up to npm is broken. Does nothing if npm is not among the ancestors. */
export function watchNpmParent(end: () => void): void {
  const line = findLineToNpm(process.pid)
  if (line === undefined) return
  const timer = setInterval(() => {
    if (line.every(({ pid, parent }) => readParent(pid)?.parent === parent)) return
    clearInterval(timer)
    end()
  }, POLL_INTERVAL_MS)
  timer.unref()
}

/** The processes from `pid` up to the child of npm, each with its parent. */
function findLineToNpm(pid: number): ProcessParent[] | undefined {
  if (!HAS_PROC) return undefined
  const line: ProcessParent[] = []
  for (let at = pid; line.length < MAX_GENERATIONS; ) {
    const process = readParent(at)
    if (process === undefined) return undefined
    if (process.name.startsWith('npm')) return line // the title that npm gives itself
    line.push({ pid: at, parent: process.parent })
    at = process.parent
  }
  return undefined
}

function readParent(pid: number): { name: string; parent: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const nameEnd = stat.lastIndexOf(')')
    return { name: stat.slice(stat.indexOf('(') + 1, nameEnd), parent: Number(stat.slice(nameEnd + 4).split(' ')[0]) }
  } catch {
    return undefined
  }
}
