/**
 * Looks for answers that earn a hardened reward without solving: constants, echoes, random and grammar-made texts.
 *   npm run holes -- [--task NAME] [--items 200] [--seed N]
 * Exit 1 where a ploy earns more than 0.1 on average and there is no reason that it cannot be helped.
 */
import { parseArgs } from 'node:util'
import { PythonEngine } from '../src/engine/python.ts'
import { preparePython } from '../src/prepare/python-environment.ts'
import { reasonFor } from './holes/reasons.ts'
import { type Find, searchTask } from './holes/search.ts'

const WORTH_TELLING = 0.05
const TOO_MUCH = 0.1

const { values } = parseArgs({
  options: {
    task: { type: 'string' },
    items: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean' },
  },
})
if (values.help) {
  console.log('npm run holes -- [--task NAME] [--items 200] [--seed N]')
  process.exit(0)
}
const engine = new PythonEngine({
  python: await preparePython(console.error),
  hosts: 1,
  scoreDeadlineMs: 2000,
  makeDeadlineMs: 10_000,
})
await engine.started()
const tasks = values.task === undefined ? Object.keys(await engine.tasks()).toSorted() : [values.task]
const finds: Find[] = []
console.log(`seed ${values.seed}, ${values.items} items a task`)
for (const task of tasks) {
  const found = await searchTask(engine, task, Number(values.items), Number(values.seed))
  const [best] = found
  if (best === undefined) continue
  finds.push(best)
  if (values.task !== undefined) for (const find of found.slice(0, 10)) console.log(line(find))
  else if (best.mean > WORTH_TELLING) console.log(line(best))
}
await engine.close()

finds.sort((a, b) => b.mean - a.mean)
const unexplained = finds.filter((find) => reasonFor(find) === undefined)
console.log(`\nthe worst ten of ${finds.length} tasks`)
for (const find of finds.slice(0, 10)) console.log(line(find))
console.log('\nthe worst ten without a reason')
for (const find of unexplained.slice(0, 10)) console.log(line(find))
process.exit(unexplained.some(({ mean }) => mean > TOO_MUCH) ? 1 : 0)

function line(find: Find): string {
  const ploy = find.ploy.length > 60 ? `${find.ploy.slice(0, 57)}...` : find.ploy
  return `${find.task}: ${find.mean.toFixed(3)} by ${ploy}   ${reasonFor(find) ?? 'no reason'}`
}
