/** docs/reference/tasks.md: all tasks with the figures of their cards, at the defaults and at the bottom, the middle and the top of the ladder. */
import type { TaskCard } from '@reasoning-gym-server/contract/task'
import { BUILT_IN_TASKS } from '../../src/features/tasks/built-in-tasks.ts'
import { Ladders } from '../../src/features/tasks/ladders.ts'
import { TaskCards } from '../../src/features/tasks/task-cards.ts'
import { readKeyChecks } from '../../src/features/tasks/validation/recorded.ts'
import { formatTable } from './page-parts.ts'

const ladders = new Ladders()
const cards = new TaskCards(ladders)
const keyChecks = readKeyChecks().tasks
const tasks = Object.entries(BUILT_IN_TASKS).toSorted(([a], [b]) => (a < b ? -1 : 1))

export function buildTasksPage(): string {
  return [
    '# Tasks',
    `This page lists all ${tasks.length} tasks of reasoning-gym ${cards.engineVersion} with measured figures. \`GET /tasks/{task}\` returns the figures of every rung, the config schema\nand an example. [Choose tasks](../guides/choose-tasks.md) explains what the figures mean for training.`,
    '## What each task asks for, and what guessing earns',
    '*Rungs* is the number of rungs of the difficulty ladder, from 0 (easiest) to 1 (hardest); a task with a single rung has a fixed difficulty.\nThe next columns are the mean score of the **best guess that needs no reasoning**: at the library\u2019s defaults, and at the bottom, the\nmiddle and the top of the ladder, under hardened scoring. *Upstream* is the guess at the defaults under the library\u2019s own scoring.\n*Error* is the largest standard error of these figures. *Best guess* names the strategy that earns the most.',
    formatTable(
      [
        'task',
        'category',
        'description',
        'rungs',
        'defaults',
        'bottom',
        'middle',
        'top',
        'upstream',
        'error',
        'best guess',
      ],
      tasks.map(([task, { category, description }]) => [`\`${task}\``, category, description, ...formatGuesses(task)]),
    ),
    '## Variety, attainable score and cost',
    'All figures are for hardened scoring. Three values are for the bottom, the middle and the top of the ladder.',
    '- *Look-up*: the mean score of the right answer to the most similar of up to 200 other questions: what memorizing earns.\n- *Most common answer*: the share of items that have the most common answer.\n- *Different in 1,000*: the number of different questions in 1,000 items.\n- *Best attainable*: the mean score of the library\u2019s own right answers on the rung where it is lowest.\n- *Time*: milliseconds of processor time to make an item.',
    formatTable(
      ['task', 'look-up', 'most common answer', 'different in 1,000', 'best attainable', 'time (ms)'],
      tasks.map(([task]) => formatFigures(task)),
    ),
    '## Answer keys',
    'Each task has a second solver or checker that reads the question alone ([how](../design/keys.md)). The figures are the share of items in\npercent with each fault of the library: over all compared items and, after the slash, at the defaults or the rung where it is largest.\n*Left* is the share with any fault that remains with hardened scoring and `clarify`.',
    formatTable(
      ['task', 'items', 'wrong key', 'several readings', 'no right answer', 'right unpaid', 'wrong paid', 'left'],
      tasks.map(([task]) => formatKeyFaults(task)),
    ),
    'What the second opinions cannot check:',
    tasks
      .flatMap(([task]) => {
        const limits = keyChecks[task]?.limits
        return limits ? [`- \`${task}\`: ${limits}`] : []
      })
      .join('\n'),
    '',
  ].join('\n\n')
}

function formatKeyFaults(task: string): string[] {
  const check = keyChecks[task]
  if (check === undefined) return [`\`${task}\``, ...Array(7).fill('–')]
  const names = ['wrong_key', 'several_readings', 'no_right_answer', 'right_unpaid', 'wrong_paid'] as const
  const left = Math.max(...names.map((name) => check.hardened[name]))
  const shown = names.map((name) => formatPair(check.upstream[name], check.worst_rung[name]))
  return [`\`${task}\``, String(check.items), ...shown, formatPercent(left)]
}

function formatPair(mean: number, worst: number): string {
  return worst === 0 ? '' : `${formatPercent(mean)} / ${formatPercent(worst)}`
}

function formatPercent(share: number): string {
  const percent = 100 * share
  return percent === 0 || percent >= 10 ? percent.toFixed(0) : percent.toFixed(1)
}

function formatGuesses(task: string): string[] {
  const shown = [cards.defaults(task), ...listShownRungs(task)]
  const best = shown.reduce((top, card) =>
    (card?.guess_floor.hardened ?? 0) > (top?.guess_floor.hardened ?? 0) ? card : top,
  )
  const errors = shown.flatMap((card) => card?.guess_floor_stderr.hardened ?? [])
  return [
    String(ladders.rungs(task).length),
    ...shown.map((card) => formatShare(card?.guess_floor.hardened)),
    formatShare(cards.defaults(task)?.guess_floor.upstream),
    formatShare(Math.max(0, ...errors)),
    best && best.guess_floor.hardened >= 0.02 ? formatGuess(best.best_guess.hardened) : '',
  ]
}

function formatFigures(task: string): string[] {
  const shown = listShownRungs(task)
  const formatEach = (read: (card: TaskCard) => string) => shown.map((card) => (card ? read(card) : '–')).join(', ')
  const attainable = ladders.rungs(task).flatMap((_, k) => cards.rung(task, k)?.best_attainable.hardened ?? [])
  return [
    `\`${task}\``,
    formatEach((card) => formatShare(card.lookup_floor.hardened)),
    formatEach((card) => formatShare(card.prior)),
    formatEach((card) => String(card.distinct_in_1000)),
    formatShare(attainable.length > 0 ? Math.min(...attainable) : undefined),
    formatEach((card) => card.make_ms.toPrecision(2)),
  ]
}

function listShownRungs(task: string): (TaskCard | undefined)[] {
  const last = ladders.rungs(task).length - 1
  return [0, Math.floor(last / 2), last].map((index) => cards.rung(task, index))
}

function formatShare(value: number | undefined): string {
  return value === undefined ? '–' : value.toFixed(2)
}

function formatGuess(guess: string): string {
  return guess.startsWith('"') ? `\`${guess.replaceAll('`', '’')}\`` : guess.replace('echo: ', '')
}
