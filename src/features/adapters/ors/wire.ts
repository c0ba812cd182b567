/** The messages of ORS. Unknown fields are dropped, because clients add some between versions. */
import { z } from 'zod'

const SplitName = z.string().max(200).describe('Name of the split.')
export const SplitBody = z.object({ split: SplitName })
export const TaskBody = z.object({ split: SplitName, index: z.int().describe('Index of the task, counted from 0.') })
export const TaskRangeBody = z.object({
  split: SplitName,
  start: z.int().nullish().describe('Index of the first task, as in a slice of Python.'),
  stop: z.int().nullish().describe('Index after the last task.'),
})

export const CreateBody = z.object({
  env_name: z.string().max(200).nullish(),
  task_spec: z.record(z.string(), z.unknown()).nullish(),
  split: SplitName.nullish(),
  index: z.int().nullish(),
})
export type CreateBody = z.infer<typeof CreateBody>

export const CallBody = z.object({ name: z.string(), input: z.record(z.string(), z.unknown()).default({}) })
export type CallBody = z.infer<typeof CallBody>

const Block = z.looseObject({ type: z.string().default('text'), text: z.string().nullish() })
const CandidateMessage = z.object({ role: z.string(), blocks: z.array(Block) })
export const GroupBody = z.object({ candidates: z.array(z.object({ messages: z.array(CandidateMessage) })).max(4096) })
export type Candidate = z.infer<typeof GroupBody>['candidates'][number]

export interface TextBlock {
  text: string
  detail: Record<string, unknown> | null
  type: 'text'
}

export type CallResult =
  | {
      ok: true
      output: { blocks: TextBlock[]; metadata: Record<string, unknown>; reward: number | null; finished: boolean }
    }
  | { ok: false; error: string; reason: 'not_found' | 'input_validation' | 'episode_finished' }

/** The tool that the model may call, and the tool that receives its last message if it calls none. */
export const ANSWER_TOOL = 'submit_answer'
export const MESSAGE_TOOL = 'submit_message'

export const TOOLS = {
  tools: [
    {
      name: ANSWER_TOOL,
      description: 'Submits the final answer to the question and ends the episode.',
      input_schema: {
        type: 'object',
        properties: { answer: { type: 'string', description: 'The answer alone, without explanation or tags.' } },
        required: ['answer'],
      },
    },
  ],
  terminal_tool: {
    name: MESSAGE_TOOL,
    arg: 'message',
    description: 'Takes the last message of the model, from which the answer is read as the prompt says.',
  },
  supports_score_group: true,
  message_block_types: ['text', 'image', 'reasoning', 'tool_call', 'tool_result'],
}

export function textBlock(text: string, detail: Record<string, unknown> | null = null): TextBlock {
  return { text, detail, type: 'text' }
}
