/** The tools that `/mcp` offers: list tasks, get an item, score an answer. */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { ItemId } from '@reasoning-gym-server/contract/item-id'
import { Config, Difficulty, RecipeInput, TaskName } from '@reasoning-gym-server/contract/recipe'
import { z } from 'zod'
import type { Submission } from '../../grading/grader.ts'
import type { Items } from '../items/items.ts'
import { DEFAULT_PROMPT_SETTINGS } from '../items/prompt.ts'
import type { TaskCatalog } from '../tasks/task-catalog.ts'
import type { SampleScoring } from './sample-scoring.ts'

/** Time to hold a call. Agents wait at most a minute for a tool. */
const HOLD_MS = 20_000

export interface McpTool {
  name: string
  description: string
  input: z.ZodType
  /** Runs the tool. Throws ZodError for its input, and ServiceError. */
  call(input: unknown): Promise<Record<string, unknown>>
}

interface McpToolsDeps {
  items: Items
  tasks: TaskCatalog
  samples: SampleScoring
}

const ListTasksInput = z.object({
  category: z.string().optional().describe('Only tasks of this category'),
  query: z.string().optional().describe('Only tasks whose name or category contains this text'),
})

const GetItemInput = z.object({
  item_id: ItemId.optional().describe('The item again, in place of a task'),
  task: TaskName.optional().describe('Name of a task, from list_tasks'),
  difficulty: Difficulty.optional().describe('0 is easiest, 1 hardest; without it the defaults of the library apply'),
  config: Config.optional().describe('Fields of the config of the task, in place of difficulty'),
  seed: RecipeInput.shape.seed.describe('Items of one task with other seeds are other items'),
  index: RecipeInput.shape.index,
})

const ScoreAnswerInput = z.object({
  item_id: ItemId.describe('From get_item'),
  answer: z.string().optional().describe('The bare answer, without explanations'),
  completion: z.string().optional().describe('A whole reply of a model, whose answer stands in <answer> tags'),
})

export function createMcpTools(deps: McpToolsDeps): McpTool[] {
  return [
    {
      name: 'list_tasks',
      description: 'Lists the reasoning tasks: name, category, and whether their difficulty can be set.',
      input: ListTasksInput,
      call: async (input) => listTasks(deps, ListTasksInput.parse(input)),
    },
    {
      name: 'get_item',
      description: 'Makes an item of a task and returns its question and ID. Equal arguments return equal items.',
      input: GetItemInput,
      call: (input) => getItem(deps, GetItemInput.parse(input)),
    },
    {
      name: 'score_answer',
      description: 'Scores an answer to an item, from 0 to 1. Give either answer or completion.',
      input: ScoreAnswerInput,
      call: (input) => scoreAnswer(deps, ScoreAnswerInput.parse(input)),
    },
  ]
}

function listTasks({ tasks }: McpToolsDeps, { category, query }: z.infer<typeof ListTasksInput>) {
  const found = tasks.list(category, query)
  return { tasks: found.map(({ name, category: of, adjustable }) => ({ name, category: of, adjustable })) }
}

async function getItem({ items }: McpToolsDeps, input: z.infer<typeof GetItemInput>) {
  const { item_id, task, ...fields } = input
  if (item_id === undefined && task === undefined) throw invalidInput('task', 'give a task, or an item_id')
  const recipe =
    item_id === undefined
      ? await items.resolveRecipe({ task: task ?? '', ...fields })
      : await items.resolveItemId(item_id)
  const item = items.formatItem(await items.getOrCreateOne(recipe), DEFAULT_PROMPT_SETTINGS)
  const { id, question, category, difficulty, messages } = item
  return { item_id: id, task: item.task, category, difficulty, question, messages }
}

async function scoreAnswer({ samples }: McpToolsDeps, input: z.infer<typeof ScoreAnswerInput>) {
  const sample = { itemId: input.item_id, submission: readSubmission(input) }
  const [result] = await samples.score({ adapter: 'mcp', samples: [sample], holdMs: HOLD_MS })
  if (!result) throw new ServiceError('internal', 'the sample has no result')
  const { verdict } = result
  if (verdict.status === 'unscored') return { item_id: input.item_id, ...verdict }
  const { status, score, answer, fault } = verdict
  return { item_id: input.item_id, status, score, answer, fault }
}

function readSubmission({ answer, completion }: z.infer<typeof ScoreAnswerInput>): Submission {
  if (completion !== undefined) return { kind: 'completion', completion }
  if (answer !== undefined) return { kind: 'answer', answer }
  throw invalidInput('answer', 'give either answer or completion')
}

function invalidInput(field: string, message: string): z.ZodError {
  return new z.ZodError([{ code: 'custom', path: [field], message, input: undefined }])
}
