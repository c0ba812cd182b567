import { expect, it } from 'vitest'
import { TASK_NAMES } from '../../../src/features/tasks/built-in-tasks.ts'
import { Ladders } from '../../../src/features/tasks/ladders.ts'
import { TaskCards } from '../../../src/features/tasks/task-cards.ts'

const ladders = new Ladders()
/** About a standard error of a guess floor. */
const TOLERANCE = 0.03
/** Thousandths, and the doubles beside them. */
const DIFFICULTIES = Array.from({ length: 1001 }, (_, k) => k / 1000)

it('a difficulty means the nearest rung, and of two equally near ones the harder', () => {
  for (const task of TASK_NAMES) {
    const rungs = ladders.rungs(task)
    const nearest = (difficulty: number) => rungs[Math.floor(difficulty * (rungs.length - 1) + 0.5)]
    const wrong = DIFFICULTIES.filter(
      (difficulty) => ladders.configAt(task, difficulty) !== nearest(difficulty)?.config,
    )
    expect([task, wrong]).toEqual([task, []])
  }
})

it('the range of a difficulty holds exactly the difficulties of its rung', () => {
  for (const task of ['ab', 'chain_sum', 'gcd', 'acre', 'no_such_task']) {
    const configs = DIFFICULTIES.map((difficulty) => ladders.configAt(task, difficulty))
    for (const [k, difficulty] of DIFFICULTIES.entries()) {
      const { from, to } = ladders.rangeAt(task, difficulty)
      const wrong = DIFFICULTIES.filter((d, n) => (from <= d && d < to) !== (configs[n] === configs[k]))
      expect([task, difficulty, wrong]).toEqual([task, difficulty, []])
    }
  }
})

it('every rung is reached by its own difficulty', () => {
  for (const task of TASK_NAMES)
    for (const { difficulty, config } of ladders.rungs(task)) expect(ladders.configAt(task, difficulty)).toBe(config)
})

it('a task that can be guessed for a quarter on every rung says why, and no other', () => {
  const cards = new TaskCards(ladders)
  for (const task of TASK_NAMES) {
    const floors = ladders.rungs(task).flatMap((_, k) => cards.rung(task, k)?.guess_floor.hardened ?? [])
    const isGuessable = floors.length > 0 && Math.min(...floors) >= 0.25 - TOLERANCE
    if (isGuessable) expect([task, ladders.guessable(task)]).toEqual([task, expect.any(String)])
    else if (floors.length > 0 && Math.min(...floors) < 0.25 - 2 * TOLERANCE)
      expect([task, ladders.guessable(task)]).toEqual([task, undefined])
  }
})
