import { expect, it } from 'vitest'
import { readConfig } from '../../src/platform/environment.ts'

it('MODEL_HOSTS takes names, addresses and ranges, and names the one that is none', () => {
  const good = ['vllm', 'vLLM_1.internal', 'model.example.org', '10.1.2.3', '10.0.0.0/8', '::1', 'fd00::/8']
  expect(readConfig({ MODEL_HOSTS: ` ${good.join(', ')},` }).MODEL_HOSTS).toEqual(good)
  expect(readConfig({}).MODEL_HOSTS).toEqual([])
  for (const wrong of ['10.0.0.0/99', 'http://x:1/', 'x:8000', '10.0.0.256', '*.internal', '[::1]', 'a/b'])
    expect(() => readConfig({ MODEL_HOSTS: `vllm,${wrong}` }), wrong).toThrow(`MODEL_HOSTS: "${wrong}" is not`)
})
