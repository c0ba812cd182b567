import { expect, it } from 'vitest'
import { run } from './run-here.ts'

const MODEL = ['--model', 'm', '--base-url', 'http://127.0.0.1:9/v1', '--url', 'http://127.0.0.1:9']

it.each([
  [['eval', '--difficulty', '0.8', ...MODEL], '--difficulty is for --task'],
  [['eval', '--suite', 'easy-3', '--items', '20', ...MODEL], 'so are --items and --seed'],
  [['eval', '--seed', '1', ...MODEL], 'so are --items and --seed'],
  [['eval', '--suite', 'frontier', '--difficulty', '0.8', ...MODEL], '--difficulty is for --task'],
  [['eval', '--min-score', '0.5', '--detach', ...MODEL], '--detach does not wait'],
  [['score', '--answer', '5', '--url', 'http://127.0.0.1:9'], '--id with either --completion or --answer'],
  [['score', 'file.jsonl', '--id', 'x', '--answer', '5', '--url', 'http://127.0.0.1:9'], 'Give a file, or --id'],
])('an option that would do nothing is an error: %s', async (args, message) => {
  const { code, stderr } = await run(args)
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
})
