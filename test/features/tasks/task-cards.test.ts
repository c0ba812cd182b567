import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resolveSettings } from '@reasoning-gym-server/contract/run-settings'
import type { TaskCard } from '@reasoning-gym-server/contract/task'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINE_VERSION } from '../../../src/engine/version.ts'
import { BUILT_IN_TASKS, TASK_NAMES } from '../../../src/features/tasks/built-in-tasks.ts'
import { Ladders } from '../../../src/features/tasks/ladders.ts'
import { hashConfig, TaskCards } from '../../../src/features/tasks/task-cards.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'task-cards-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const FLOORS = { upstream: 0.5, hardened: 0.2 }

function makeCard(config: object, hardened: number) {
  return {
    config: hashConfig({ ...config }),
    items: 1000,
    measured: 200,
    guess_floor: { upstream: 0.5, hardened },
    guess_floor_stderr: { upstream: 0.03, hardened: 0.03 },
    best_guess: { upstream: '"1"', hardened: '"1"' },
    lookup_floor: FLOORS,
    learned_floor: null,
    prior: 0.1,
    distinct_in_1000: 1000,
    best_attainable: { upstream: 1, hardened: 1 },
    make_ms: 1,
  }
}

/** The cards of a task with five rungs whose field `size` is 1 to 5. */
function openCards(cards: { defaults: object | null; rungs: (object | null)[] }): TaskCards {
  const [ladderFile, cardsFile] = [join(folder, 'ladders.json'), join(folder, 'cards.json')]
  writeFileSync(ladderFile, JSON.stringify({ gcd: { rungs: 5, fields: { size: [1, 2, 3, 4, 5] } } }))
  writeFileSync(cardsFile, JSON.stringify({ engine: '0.1.25', tasks: { gcd: cards } }))
  return new TaskCards(new Ladders(ladderFile), cardsFile)
}

it('a card belongs to its config, wherever the ladder has it now', () => {
  const cards = openCards({
    defaults: makeCard({}, 0.3),
    rungs: [makeCard({ size: 4 }, 0.4), makeCard({ size: 9 }, 0.9)],
  })
  expect(cards.defaults('gcd')?.guess_floor.hardened).toBe(0.3)
  expect([0, 1, 2, 3, 4, 5].map((k) => cards.rung('gcd', k)?.guess_floor.hardened)).toEqual([
    undefined,
    undefined,
    undefined,
    0.4,
    undefined,
    undefined,
  ])
})

it('the floor of a rung without a card lies between its neighbors', () => {
  const cards = openCards({ defaults: null, rungs: [makeCard({ size: 2 }, 0.2), makeCard({ size: 4 }, 0.4)] })
  const floorAt = (difficulty: number | null) => cards.guessFloor('gcd', difficulty, 'hardened')
  expect([0, 0.25, 0.5, 0.75, 1].map(floorAt)).toEqual([0.2, 0.2, expect.closeTo(0.3), 0.4, 0.4])
  expect(cards.guessFloor('gcd', 0.5, 'upstream')).toBe(0.5)
})

it('a floor that is not known is 0', () => {
  const cards = openCards({ defaults: null, rungs: [] })
  expect(cards.guessFloor('gcd', null, 'hardened')).toBe(0)
  expect(cards.guessFloor('gcd', 0.5, 'hardened')).toBe(0)
  expect(cards.guessFloor('no_such_task', 0.5, 'hardened')).toBe(0)
})

describe('the recorded cards', () => {
  const ladders = new Ladders()
  const recorded = new TaskCards(ladders)
  /** Standard errors of a difference that 1,800 comparisons without one stay below. */
  const MAX_STANDARD_ERRORS = 4
  /** Half of the answers to yes-or-no questions are guessed right, and slightly more of some 200 items. */
  const MAX_FLOOR = 0.6

  /** Guessing that earns this much hides no learning. */
  const NEGLIGIBLE_FLOOR = 0.1
  const hasShortcut = (task: string) => BUILT_IN_TASKS[task]?.shortcut !== undefined

  /** `task rung figure` of each rung that a model should not be trained on. */
  const faults = TASK_NAMES.flatMap((task) => ladders.rungs(task).flatMap((_, rung) => findFaults(task, rung)))

  function findFaults(task: string, rung: number): string[] {
    const [card, below] = [recorded.rung(task, rung), recorded.rung(task, rung - 1)]
    if (!card) return []
    const faulty = {
      guess_floor: below !== undefined && !hasShortcut(task) && isEasierToGuess(card, below),
      distinct_in_1000: card.distinct_in_1000 < 500,
      best_attainable: Math.min(card.best_attainable.upstream, card.best_attainable.hardened) < 0.95,
    }
    return Object.entries(faulty).flatMap(([figure, is]) => (is ? [`${task} ${rung} ${figure}`] : []))
  }

  /** Under hardened scoring; the library's own pays parts of answers, of which harder items may have more. */
  function isEasierToGuess(card: TaskCard, below: TaskCard): boolean {
    const error = Math.hypot(card.guess_floor_stderr.hardened, below.guess_floor_stderr.hardened)
    const more = card.guess_floor.hardened - below.guess_floor.hardened
    return card.guess_floor.hardened > NEGLIGIBLE_FLOOR && more > MAX_STANDARD_ERRORS * error
  }

  it('are of this version of the library', () => {
    expect(recorded.engineVersion).toBe(ENGINE_VERSION)
  })

  it('are there for the defaults and each rung: npm run task-cards measures those of changed rungs', () => {
    const missing = TASK_NAMES.flatMap((task) => {
      const rungs = ladders.rungs(task).flatMap((_, rung) => (recorded.rung(task, rung) ? [] : [`${task} ${rung}`]))
      return recorded.defaults(task) ? rungs : [`${task} defaults`, ...rungs]
    })
    expect(missing).toEqual([])
  })

  it('show no rung of a task of the preset clean that can mostly be guessed', () => {
    const { exclude } = resolveSettings({ preset: 'clean' })
    expect(exclude).toEqual(['shortcuts'])
    const floors = TASK_NAMES.filter((task) => !hasShortcut(task)).flatMap((task) =>
      ladders.rungs(task).map((_, k) => [task, k, recorded.rung(task, k)?.guess_floor.hardened ?? 0] as const),
    )
    expect(floors.filter(([, , floor]) => floor > MAX_FLOOR)).toEqual([])
  })

  it('show a rung that can mostly be guessed for each task that clean leaves out', () => {
    for (const task of TASK_NAMES.filter(hasShortcut)) {
      const floors = ladders.rungs(task).map((_, k) => recorded.rung(task, k)?.guess_floor.hardened ?? 0)
      expect(Math.max(...floors), task).toBeGreaterThan(MAX_FLOOR)
    }
  })

  it('show no rung that is easier to guess than the one below, has few questions or cannot be solved', () => {
    expect(faults).toEqual([])
  })
})
