/** docs/reference/tasks.md: what each task asks for, its rungs, what guessing earns on them, and the time to make an item. */
import { BUILT_IN_TASKS } from '../../src/features/tasks/built-in-tasks.ts'
import { Ladders } from '../../src/features/tasks/ladders.ts'
import { TaskCards } from '../../src/features/tasks/task-cards.ts'
import { formatTable } from './page-parts.ts'

const ladders = new Ladders()
const cards = new TaskCards(ladders)
const tasks = Object.entries(BUILT_IN_TASKS).toSorted(([a], [b]) => (a < b ? -1 : 1))

export function buildTasksPage(): string {
  return [
    '# Tasks',
    `All ${tasks.length} tasks of reasoning-gym ${cards.engineVersion}. *Rungs* is the number of steps of the difficulty ladder; a task with one has a fixed\ndifficulty. *Guess* is the mean score, under hardened scoring, of the best guess that needs no reasoning: at the library\u2019s defaults, and from\nthe least to the most guessable rung. *Time* is the processor time to make an item at the top of the ladder.`,
    'The rest: `GET /tasks/{task}`, `npx reasoning-gym-server tasks NAME`, or the page of the task in the dashboard.\n[Choose tasks](../guides/choose-tasks.md) explains the figures.',
    formatTable(
      ['task', 'category', 'what it asks for', 'rungs', 'guess', 'time (ms)'],
      tasks.map(([task, { category, description }]) => [
        `\`${task}\``,
        category,
        description,
        String(ladders.rungs(task).length),
        `${formatShare(cards.defaults(task)?.guess_floor.hardened)}, ${formatRange(task)}`,
        formatTime(cards.rung(task, ladders.rungs(task).length - 1)?.make_ms),
      ]),
    ),
    '',
  ].join('\n\n')
}

/** The smallest and the largest floor of the ladder. */
function formatRange(task: string): string {
  const floors = ladders.rungs(task).flatMap((_, index) => cards.rung(task, index)?.guess_floor.hardened ?? [])
  return [...new Set([Math.min(...floors), Math.max(...floors)].map(formatShare))].join('–')
}

function formatTime(ms: number | undefined): string {
  return ms === undefined ? '–' : String(Number(ms.toPrecision(2)))
}

function formatShare(value: number | undefined): string {
  return value === undefined ? '–' : value.toFixed(2)
}
