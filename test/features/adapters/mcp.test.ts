/** The Model Context Protocol, as coding agents speak it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorld, type World } from '../../world.ts'

const LEGS = { task: 'leg_counting', seed: 42 } // its answer is 100

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

describe('POST /mcp', () => {
  const call = async (method: string, params?: object) =>
    (await world.call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method, ...(params && { params }) })).body

  it('greets, lists its tools, and answers a notification with nothing', async () => {
    const { result } = await call('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} })
    expect(result).toMatchObject({ protocolVersion: '2025-06-18', capabilities: { tools: {} } })
    expect((await call('initialize', { protocolVersion: '2099-01-01' })).result.protocolVersion).toBe('2025-11-25')
    const { tools } = (await call('tools/list')).result
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(['list_tasks', 'get_item', 'score_answer'])
    for (const { inputSchema } of tools) expect(inputSchema.type).toBe('object')
    const answer = await world.app.inject({
      method: 'POST',
      url: '/mcp',
      payload: { jsonrpc: '2.0', method: 'notifications/initialized' },
    })
    expect([answer.statusCode, answer.body]).toEqual([202, ''])
  })

  it('finds a task, makes an item and scores an answer', async () => {
    const use = async (name: string, args: object) => (await call('tools/call', { name, arguments: args })).result
    expect((await use('list_tasks', { query: 'leg' })).structuredContent.tasks).toMatchObject([
      { name: 'leg_counting' },
    ])
    const { item_id, question } = (await use('get_item', LEGS)).structuredContent
    expect(question).toContain('giraffes')
    expect((await use('get_item', { item_id })).structuredContent.question).toBe(question)
    expect((await use('score_answer', { item_id, answer: '100' })).structuredContent).toMatchObject({ score: 1 })
    expect(await use('score_answer', { item_id })).toMatchObject({ isError: true })
    expect(await use('get_item', { task: 'nope' })).toMatchObject({ isError: true })
  })

  it.each<[string, unknown, number]>([
    ['no request', {}, -32600],
    ['a list', [], -32600],
    ['an unknown method', { jsonrpc: '2.0', id: 1, method: 'resources/list' }, -32601],
    ['an unknown tool', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } }, -32602],
  ])('answers %s with an error of JSON-RPC', async (_name, message, code) => {
    expect(await world.call('POST', '/mcp', message)).toMatchObject({ status: 200, body: { error: { code } } })
  })
})
