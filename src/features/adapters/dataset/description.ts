/** Describes how to load data sets of items by URL. */
import type { AdapterDescription } from '@reasoning-gym-server/contract/adapter'
import type { ServerAddress } from '../catalogue.ts'

export function describeDataset({ urlWithKey }: ServerAddress): AdapterDescription {
  const url = `${urlWithKey}/dataset.jsonl`
  return {
    name: 'dataset',
    title: 'Data sets by URL, for trainers that read a file',
    summary:
      'Items as JSONL with the columns of the trainer (format=hf, trl, verl, openrlhf, slime, skyrl, nemo-gym or swift): the same bytes each time.',
    paths: ['/dataset.jsonl', '/dataset.jsonl.gz', '/eval/suites/{suite}/dataset.jsonl'],
    client_file: null,
    unscored: 'Not applicable: a data set scores nothing.',
    snippets: [
      {
        title: 'Download',
        language: 'sh',
        code: `curl -o rows.jsonl '${url}?format=verl&tasks=category:games,chain_sum&difficulty=0.2,0.8&count=10000&seed=1'`,
      },
      {
        title: 'Load with Hugging Face datasets',
        language: 'python',
        code: `from datasets import load_dataset

rows = load_dataset("json", data_files="${url}?format=trl&count=10000&seed=1", split="train")`,
      },
      {
        title: 'Stream, for long data sets',
        language: 'python',
        code: `from datasets import load_dataset

rows = load_dataset("json", data_files="${url}.gz?format=trl&count=1000000&seed=1", split="train", streaming=True)`,
      },
    ],
  }
}
