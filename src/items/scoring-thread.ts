/** A thread that scores one answer after another: the long ones, which would hold up everybody on the event loop. */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { bindRule, type RuleParts, scoringBy } from './rule.ts'

/** As Python hosts that score: who serves requests goes first. */
const NICE = 2

try {
  setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), NICE)
} catch {
  // not Linux: threads are equal there
}

parentPort?.on('message', ({ parts, answer }: { parts: RuleParts; answer: string }) => {
  parentPort?.postMessage(scoringBy(bindRule(parts), answer))
})
parentPort?.postMessage('ready')
