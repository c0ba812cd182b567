/** docs/reference/tasks.md: the cards of all tasks, at the defaults and at the bottom, the middle and the top of the ladder. */
import type { TaskCard } from '../../src/contract/task.ts'
import { Ladders } from '../../src/features/tasks/ladders.ts'
import { TaskCards } from '../../src/features/tasks/task-cards.ts'
import { TASK_NAMES } from '../../src/features/tasks/task-catalog.ts'
import { escapeTableCell } from './schema.ts'

const ladders = new Ladders()
const cards = new TaskCards(ladders)

export function buildTaskCardsPage(): string {
  return [
    '# Task cards',
    `Made by \`npm run docs:reference\` from the cards that \`npm run task-cards\` measured with version ${cards.engineVersion} of the library.\n[The guide](../guides/choose-tasks.md) says what the figures mean; \`GET /tasks/{task}\` has those of every rung.`,
    '## Guess floors',
    'The mean score of the best guess under hardened scoring at the library’s defaults and at the bottom, the middle and the top of the\nladder, and under upstream scoring at the defaults. *Error*: the largest standard error of the four. *By*: what earns the most of them.',
    formatTable(
      ['task', 'upstream, defaults', 'defaults', 'bottom', 'middle', 'top', 'error', 'by'],
      TASK_NAMES.map(formatFloors),
    ),
    '## Other figures',
    'Hardened scoring; each at the bottom, the middle and the top of the ladder. *Best attainable* is the least over all rungs.',
    formatTable(
      ['task', 'look-up floor', 'most common answer', 'different in 1,000', 'best attainable', 'ms to make an item'],
      TASK_NAMES.map(formatFigures),
    ),
    '',
  ].join('\n\n')
}

function formatFloors(task: string): string[] {
  const shown = [cards.defaults(task), ...listShownRungs(task)]
  const best = shown.reduce((top, card) =>
    (card?.guess_floor.hardened ?? 0) > (top?.guess_floor.hardened ?? 0) ? card : top,
  )
  const errors = shown.flatMap((card) => card?.guess_floor_stderr.hardened ?? [])
  return [
    task,
    formatShare(cards.defaults(task)?.guess_floor.upstream),
    ...shown.map((card) => formatShare(card?.guess_floor.hardened)),
    formatShare(Math.max(0, ...errors)),
    best && best.guess_floor.hardened >= 0.02 ? formatGuess(best.best_guess.hardened) : '',
  ]
}

function formatFigures(task: string): string[] {
  const shown = listShownRungs(task)
  const formatEach = (read: (card: TaskCard) => string) => shown.map((card) => (card ? read(card) : '–')).join(', ')
  const attainable = ladders.rungs(task).flatMap((_, k) => cards.rung(task, k)?.best_attainable.hardened ?? [])
  return [
    task,
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

function formatTable(head: string[], rows: string[][]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(escapeTableCell).join(' | ')} |`).join('\n')
}
