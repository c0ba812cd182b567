/** docs/reference/tasks.md: what each task asks for, its rungs, what guessing earns on them, and the time to make an item. */
import type { TaskCard } from '@reasoning-gym-server/contract/task'
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
    `All ${tasks.length} tasks of reasoning-gym ${cards.engineVersion}. *Rungs* is the number of steps of the difficulty ladder; a task with one has a fixed\ndifficulty. *Guess* is the mean score, under hardened scoring, of the best guess that needs no reasoning: at the library\u2019s defaults, and at\nthe bottom, the middle and the top of the ladder. *Time* is the processor time to make an item on these three rungs.`,
    'The figures of every rung, the settings, an example and the faults of the keys: `GET /tasks/{task}`,\n`npx reasoning-gym-server tasks NAME`, or the page of the task in the dashboard. [Choose tasks](../guides/choose-tasks.md) explains them.',
    formatTable(
      ['task', 'category', 'what it asks for', 'rungs', 'guess', 'time (ms)'],
      tasks.map(([task, { category, description }]) => [
        `\`${task}\``,
        category,
        description,
        String(ladders.rungs(task).length),
        [cards.defaults(task), ...listShownRungs(task)]
          .map((card) => formatShare(card?.guess_floor.hardened))
          .join(' · '),
        listShownRungs(task)
          .map((card) => card?.make_ms.toPrecision(2) ?? '–')
          .join(' · '),
      ]),
    ),
    '',
  ].join('\n\n')
}

function listShownRungs(task: string): (TaskCard | undefined)[] {
  const last = ladders.rungs(task).length - 1
  return [...new Set([0, Math.floor(last / 2), last])].map((index) => cards.rung(task, index))
}

function formatShare(value: number | undefined): string {
  return value === undefined ? '–' : value.toFixed(2)
}
