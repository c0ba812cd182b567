/** What every family is tried with: items, completions of each kind, and the rewards that they must get. */
import { requireBody } from '../support/http.ts'
import type { Testbed } from './testbed.ts'

/** sympy's simplify does not come to an end with it: the scorer's deadline passes, and the verdict is unscored. */
const HANGING_ANSWER = ['x', 'X']
  .map((v) => `(sin(${v})+cos(${v})+tan(${v})+${v}**2)**9/(exp(${v})+log(${v})+${v}**7)**9`)
  .join('+')
const HANGING_TASK = 'simple_integration'
const TASKS = ['chain_sum', 'leg_counting', 'base_conversion', 'caesar_cipher']
const ITEMS_PER_TASK = 4
const SEED = 7000
const CLEAN_RULES = { scoring: 'hardened', dual_format: false, extraction: 'last_tag' } // of the preset `clean`
/** Cells that are right count, under `upstream` and `hardened` alike; one is spoiled. */
const PARTIAL_TASK = 'mini_sudoku'
export const GROUP_SIZE = 4

interface FixtureItem {
  id: string
  task: string
  category: string
  question: string
  messages: { role: string; content: string }[]
  answer: string
  right: string
  wrong: string
  malformed: string
}

export interface Fixture {
  run: string
  group_size: number
  /** `right` scores 1, `wrong` 0; `malformed` has no answer that can be read, and scores 0. */
  items: FixtureItem[]
  partial: { item: FixtureItem; completion: string; score: number }
  unscored: { item: FixtureItem; completion: string; answer: string; code: string }
}

type Completion = [itemId: string, completion: string]
type Server = Pick<Testbed, 'url' | 'adminKey'>

interface Verdict {
  score: number | null
  code?: string
}

/** Throws unless the server scores each completion as it is meant. */
export async function makeFixture(testbed: Testbed): Promise<Omit<Fixture, 'run'>> {
  const items: FixtureItem[] = []
  for (const [k, task] of TASKS.entries()) items.push(...(await makeItems(testbed, task, SEED + k, ITEMS_PER_TASK)))
  const [unscoredItem] = await makeItems(testbed, HANGING_TASK, SEED, 1)
  if (unscoredItem === undefined) throw new Error(`no item of ${HANGING_TASK}`)
  const unscoredCompletion = wrap(HANGING_ANSWER)
  for (const [kind, wanted] of [
    ['right', 1],
    ['wrong', 0],
    ['malformed', 0],
  ] as const) {
    const scores = await scoreAll(
      testbed,
      items.map((item) => [item.id, item[kind]]),
    )
    const odd = scores.findIndex((found) => found !== wanted)
    if (odd >= 0) throw new Error(`${items[odd]?.task}: the ${kind} completion scores ${scores[odd]}`)
  }
  const [hanging] = await score(testbed, [[unscoredItem.id, unscoredCompletion]], CLEAN_RULES)
  if (hanging?.code === undefined) throw new Error(`the answer that hangs was scored: ${JSON.stringify(hanging)}`)
  return {
    group_size: GROUP_SIZE,
    items,
    partial: await makePartial(testbed),
    unscored: { item: unscoredItem, completion: unscoredCompletion, answer: HANGING_ANSWER, code: hanging.code },
  }
}

/** A run for one family, with open groups of GROUP_SIZE and rewards that a single rollout can have. */
export async function createRun({ url, adminKey }: Server, run: string): Promise<void> {
  const settings = { preset: 'clean', tasks: TASKS.slice(0, 2), group_size: GROUP_SIZE, batch_size: 32, buffer: false }
  await requireBody('PUT', `${url}/runs/${run}`, { body: settings, key: adminKey })
}

async function makePartial(testbed: Testbed): Promise<Fixture['partial']> {
  const [item] = await makeItems(testbed, PARTIAL_TASK, SEED, 1)
  if (item === undefined) throw new Error(`no item of ${PARTIAL_TASK}`)
  const completion = wrap(`${item.answer}x`)
  const [partial] = await scoreAll(testbed, [[item.id, completion]])
  if (partial === undefined || partial <= 0 || partial >= 1) throw new Error(`the partial answer scores ${partial}`)
  return { item, completion, score: partial }
}

async function makeItems(server: Server, task: string, seed: number, count: number): Promise<FixtureItem[]> {
  const { url, adminKey: key } = server
  const { items } = await requireBody('POST', `${url}/items`, { body: { task, seed, count }, key })
  return Promise.all(
    items.map(async ({ id }: { id: string }) => {
      const item = await requireBody('GET', `${url}/items/${id}?reveal=true`, { key })
      const { category, question, messages, answer } = item
      const completions = { right: wrap(answer), wrong: wrap('no idea'), malformed: 'I do not know.' }
      return { id, task, category, question, messages, answer, ...completions }
    }),
  )
}

/** The scores by the rules of the preset `clean`, which must be those of the server's defaults too. */
async function scoreAll(server: Server, completions: Completion[]): Promise<(number | undefined)[]> {
  const [clean, original] = [await score(server, completions, CLEAN_RULES), await score(server, completions, {})]
  const odd = clean.findIndex((verdict, k) => verdict.score !== original[k]?.score)
  if (odd >= 0)
    throw new Error(`hardened ${clean[odd]?.score}, upstream ${original[odd]?.score}: ${completions[odd]?.[1]}`)
  return clean.map((verdict) => verdict.score ?? undefined)
}

async function score({ url, adminKey }: Server, completions: Completion[], rules: object): Promise<Verdict[]> {
  const rollouts = completions.map(([item_id, completion]) => ({ item_id, completion }))
  return (await requireBody('POST', `${url}/score`, { body: { rollouts, ...rules }, key: adminKey })).verdicts
}

function wrap(answer: string): string {
  return `<answer>${answer}</answer>`
}
