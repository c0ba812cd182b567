/** Converts items to the rows of a trainer's prompt file. A row never holds the reference answer: rewards come from the server. */
import type { FetchedItem } from './item-stream.ts'

export const PROMPT_FORMATS = ['jsonl', 'verl', 'label'] as const
export type PromptFormat = (typeof PROMPT_FORMATS)[number]

export function buildPromptRow(
  { id, task, category, difficulty, messages }: FetchedItem,
  format: PromptFormat,
  index: number,
): object {
  switch (format) {
    case 'jsonl':
      return { prompt: messages, item_id: id, task, category, difficulty }
    case 'verl':
      return {
        data_source: `reasoning_gym/${task}`,
        prompt: messages,
        ability: category,
        reward_model: { style: 'rule', ground_truth: id }, // verl passes this to the reward function
        extra_info: { index, item_id: id, task, difficulty },
      }
    case 'label':
      return { prompt: messages, label: id, task, difficulty }
  }
}
