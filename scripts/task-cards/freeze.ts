/** Writes the measured cards into the repository, in the order of the ladders; what has no card yet is null. */
import { writeFileSync } from 'node:fs'
import type { Ladders } from '../../src/features/tasks/ladders.ts'
import { hashConfig, TASK_CARDS_FILE } from '../../src/features/tasks/task-cards.ts'
import { TASK_NAMES } from '../../src/features/tasks/task-catalog.ts'
import type { CardStore } from './card-store.ts'

export function freezeTaskCards(store: CardStore, ladders: Ladders): void {
  const tasks = TASK_NAMES.map((task) => {
    const formatCard = (config: Parameters<typeof hashConfig>[0]) => {
      const card = store.get(task, config)
      return card ? JSON.stringify({ config: hashConfig(config), ...card }) : 'null'
    }
    const rungs = ladders.rungs(task).map(({ config }) => `    ${formatCard(config)}`)
    return `  "${task}": {\n   "defaults": ${formatCard({})},\n   "rungs": [\n${rungs.join(',\n')}\n   ]\n  }`
  })
  writeFileSync(TASK_CARDS_FILE, `{\n "engine": "${store.engine}",\n "tasks": {\n${tasks.join(',\n')}\n }\n}\n`)
}
