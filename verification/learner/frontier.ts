/**
 * The rule `frontier` for a plain loop: reads the groups of each task as lines of JSON, and answers each with the task's next rung.
 * The first line of a task has the `difficulties` of its rungs. Guessing earns nothing in these tasks.
 */

import { createInterface } from 'node:readline'
import { createFrontierRule } from '../../test/features/runs/curriculum/frontier-rule.ts'

interface Group {
  task: string
  difficulties?: number[]
  rung: number
  score: number
  rollouts: number
  step: number
}

const ladders = new Map<string, { difficulties: number[]; rule: ReturnType<typeof createFrontierRule> }>()

for await (const line of createInterface({ input: process.stdin })) {
  const { task, difficulties, rung, score, rollouts, step } = JSON.parse(line) as Group // as arms.py writes it
  if (difficulties) {
    const rule = createFrontierRule(difficulties.map((difficulty) => ({ difficulty, floor: 0 })))
    ladders.set(task, { difficulties, rule })
  }
  const ladder = ladders.get(task)
  if (!ladder) throw new Error(`${task} has no ladder`)
  if (!difficulties) ladder.rule.learn(ladder.difficulties[rung] ?? Number.NaN, score, rollouts, { step })
  const { place, cap, slope } = ladder.rule.estimate()
  const chosen = ladder.difficulties.indexOf(ladder.rule.choose())
  const next = ladder.difficulties[chosen + 1]
  const solved = next === undefined ? 0 : cap / (1 + Math.exp(-slope * (place - next)))
  console.log(JSON.stringify({ rung: chosen, place, cap, solved }))
}
