/** A thread that scores one answer after another: the long ones, which would hold up everybody on the event loop. */
import { parentPort } from 'node:worker_threads'
import { bindRule, type RuleParts, scoringBy } from './rule.ts'

parentPort?.on('message', ({ parts, answer }: { parts: RuleParts; answer: string }) => {
  parentPort?.postMessage(scoringBy(bindRule(parts), answer))
})
parentPort?.postMessage('ready')
