/** A thread that scores one answer after another: the long ones, which would hold up everybody on the event loop. */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { applyRule, bindRule, type RuleSpec } from './scoring-rule.ts'

/** Who serves requests goes first; Python hosts, which may be kept busy for seconds by one answer, go last. */
const THREAD_NICENESS = 6

try {
  setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), THREAD_NICENESS)
} catch {
  // not Linux: threads are equal there
}

parentPort?.on('message', ({ parts, answer }: { parts: RuleSpec; answer: string }) => {
  parentPort?.postMessage(applyRule(bindRule(parts), answer))
})
parentPort?.postMessage('ready')
