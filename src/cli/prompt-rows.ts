/** Items as the rows of a trainer's prompt file. The right answer is never in one: the reward comes from the server. */
import type { MadeItem } from './many-items.ts'

export const FORMATS = ['jsonl', 'verl', 'label'] as const
export type Format = (typeof FORMATS)[number]

export function rowOf({ id, task, category, difficulty, messages }: MadeItem, format: Format, index: number): object {
  switch (format) {
    case 'jsonl':
      return { prompt: messages, item_id: id, task, category, difficulty }
    case 'verl':
      return {
        data_source: `reasoning_gym/${task}`,
        prompt: messages,
        ability: category,
        reward_model: { style: 'rule', ground_truth: id }, // what verl passes on to the reward function
        extra_info: { index, item_id: id, task, difficulty },
      }
    case 'label':
      return { prompt: messages, label: id, task, difficulty }
  }
}
