/** How to load data sets of items by URL. */
import type { AdapterDescription } from '../../../contract/adapter.ts'
import type { ServerAddress } from '../catalogue.ts'

export function describeDataset({ urlWithKey }: ServerAddress): AdapterDescription {
  const url = `${urlWithKey}/dataset.jsonl`
  return {
    name: 'dataset',
    title: 'Data sets by URL, for trainers that read a file',
    summary:
      'Items as JSONL in the columns of hf, trl, verl, openrlhf, slime, skyrl, nemo-gym or swift: the same bytes each time.',
    paths: ['/dataset.jsonl', '/dataset.jsonl.gz', '/eval/suites/{suite}/dataset.jsonl'],
    client_file: null,
    unscored: 'Nothing is scored here.',
    snippets: [
      {
        title: 'Download',
        language: 'sh',
        code: `curl -o rows.jsonl '${url}?format=verl&tasks=category:games,chain_sum&difficulty=0.2,0.8&count=10000&seed=1'`,
      },
      {
        title: 'Hugging Face datasets',
        language: 'python',
        code: `from datasets import load_dataset

rows = load_dataset("json", data_files="${url}?format=trl&count=10000&seed=1", split="train")`,
      },
      {
        title: 'The same as a stream, of any length',
        language: 'python',
        code: `rows = load_dataset("json", data_files="${url}.gz?format=trl&count=1000000&seed=1", split="train", streaming=True)`,
      },
    ],
  }
}
