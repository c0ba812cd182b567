import { describe, expect, it } from 'vitest'
import { Ledger, type RunProgress, type SettledGroup } from '../../verification/storm/ledger.ts'
import { chaos } from '../../verification/storms.ts'

describe('the trainer’s side under fire', () => {
  it('loses and doubles nothing while nodes, workers, hosts and Redis are killed', async () => {
    // `npm run verify -- chaos` kills 200.
    const order = ['worker', 'redis', 'api', 'redis', 'host'] as const
    const { kills, entries, violations } = await chaos({ order, seed: 1, tell: () => {} })
    expect(violations).toEqual([])
    expect(kills).toEqual({ api: 1, worker: 1, host: 1, redis: 2 })
    expect(new Map(entries).get('… in exactly one batch')).toBeGreaterThan(0)
  }, 300_000)
})

describe('the ledger', () => {
  const group = { id: 'g', completions: ['a', 'b'], expected: [1, 0] }
  const part = { step: 0, rank: 0, group: 'g', indices: [0, 1], completions: ['a', 'b'], rewards: [1, 0] }
  const settled: SettledGroup = {
    group_id: 'g',
    status: 'scored',
    destination: 'buffered',
    verdicts: [
      { status: 'scored', reward: 1 },
      { status: 'scored', reward: 0 },
    ],
  }
  const counters = { groups: 1, rollouts: 2, scored_groups: 1, stale_groups: 0, unscored: 0 }
  const run = {
    progress: { ...counters, no_signal: { easy: 0, hard: 0 } },
    tasks: { chain_sum: { groups: 1, rollouts: 2, mean_reward: 0.5 } },
  } as unknown as RunProgress // no other counters are read

  const violations = (
    delivered: (typeof part)[],
    end: Partial<SettledGroup> = {},
    figures: Partial<RunProgress> = {},
  ) => {
    const ledger = new Ledger()
    ledger.posted.set('g', group)
    ledger.delivered.push(...delivered)
    ledger.checkGroups([{ ...settled, ...end }], { ...run, ...figures }, 1)
    return ledger.violations.join('\n')
  }

  it('balances where everything is as it was posted', () => {
    expect(violations([part])).toBe('')
  })

  it('tells what is lost, doubled, changed or miscounted', () => {
    expect(violations([])).toContain('group g is buffered and not in a batch')
    expect(violations([part, { ...part, rank: 1 }])).toContain('rollout g/0 is there twice')
    expect(violations([part, { ...part, step: 1 }])).toContain('group g is in steps 0 and 1')
    expect(violations([{ ...part, completions: ['a', 'a'] }])).toContain('g/1 is not what was posted')
    expect(violations([{ ...part, rewards: [0, 0] }])).toContain('g/0: reward 0 for 1')
    expect(violations([part], { destination: 'stale' })).toContain('is stale and in a batch')
    expect(violations([], { status: 'queued', destination: null })).toContain('group g is queued')
    expect(violations([part], { status: 'failed' })).toContain('group g is failed')
    expect(violations([part], {}, { tasks: { chain_sum: { groups: 1, rollouts: 2, mean_reward: 0.75 } } })).toContain(
      'rewards: 1 in verdicts, 1.5',
    )
    expect(violations([{ ...part, group: 'other' }])).toContain('which nobody posted')
  })
})

describe('the ledger of dumps', () => {
  const line = (id: string, ...rollouts: [text: string, reward: number][]) => ({
    group_id: id,
    rollouts: rollouts.map(([content, score]) => ({ conversation: [{ content }], score, advantage: 0 })),
  })
  const violations = (...lines: ReturnType<typeof line>[]) => {
    const ledger = new Ledger()
    ledger.posted.set('g', { id: 'g', completions: ['a', 'b', 'c'], expected: [1, null, 0] })
    const verdicts = [1, null, 0].map((reward) => ({ status: reward === null ? 'unscored' : 'scored', reward }))
    const lost = { group_id: 'lost', status: 'failed', destination: null }
    ledger.checkDumps([{ group_id: 'g', status: 'scored', destination: 'buffered', verdicts }, lost], lines)
    return ledger.violations.join('\n')
  }

  it('balances where each scored group has one line, without its unscored rollouts', () => {
    expect(violations(line('g', ['a', 1], ['c', 0]))).toBe('')
  })

  it('tells what is lost, doubled or changed', () => {
    expect(violations()).toContain('dumped group g is lost')
    expect(violations(line('g', ['a', 1], ['c', 0]), line('g', ['a', 1], ['c', 0]))).toContain('is there twice')
    expect(violations(line('g', ['a', 1], ['c', 1]))).toContain('rollouts of the dumped group g')
    expect(violations(line('g', ['a', 1], ['b', 0]))).toContain('rollouts of the dumped group g')
    expect(violations(line('g', ['a', 1]))).toContain('rollouts of the dumped group g')
    expect(violations(line('lost'))).toContain('nobody sent it')
  })
})

describe('the ledger of single samples', () => {
  const NODE = 'http://node'
  /** What it says of a rollout that was answered `answers` times and counted as the rewards say. */
  const check = (rewards: number[], { answers = 1, abandoned = 0, isNamed = false, diedAt = 0 } = {}) => {
    const ledger = new Ledger()
    const one = ledger.getOrCreateSample('item', 'text', isNamed)
    for (let k = 0; k < answers; k++) one.answers.push({ reward: 1, node: NODE, at: 1000 })
    one.abandoned = abandoned
    if (diedAt) ledger.deaths.push({ node: NODE, at: diedAt })
    const verdict = { status: 'scored' as const, score: 1, answer: '1', fault: null, penalty: 0, advantage: 0 }
    const text = { text: 'text', cut: false, length_tokens: null, finish_reason: null }
    const group = {
      group_id: 'g',
      run: 'r',
      item_id: 'item',
      task: 't',
      difficulty: null,
      policy_version: null,
      status: 'scored' as const,
      destination: null,
      verdicts: rewards.map((reward) => ({ ...verdict, reward })),
      completions: rewards.map(() => text),
      common_answer: null,
    }
    const counted = { groups: 1, rollouts: rewards.length }
    ledger.checkSamples([group], 8, counted)
    return ledger.violations.join('\n')
  }

  it('balances where each rollout counts once', () => {
    expect(check([1])).toBe('')
    expect(check([1, 1], { answers: 2 })).toBe('')
  })

  it('tells what is lost, doubled, or rewarded otherwise than it was answered', () => {
    expect(check([])).toContain('1 answered, 0 counted')
    expect(check([1, 1])).toContain('1 answered, 2 counted')
    expect(check([0])).toContain('answered 1, counted 0')
    expect(check([1], { answers: 2 })).toContain('2 answered, 1 counted')
    expect(check([1], { answers: 2, diedAt: 99_999 })).toContain('2 answered, 1 counted')
    expect(check([1, 1], { abandoned: 1, isNamed: true })).toContain('1 answered, 2 counted')
  })

  it('lets pass only what no server can know without the names of rollouts', () => {
    expect(check([1], { answers: 2, diedAt: 1100 })).toBe('')
    expect(check([1, 1], { abandoned: 1 })).toBe('')
  })
})

it('the ledger tells which of the names that must be there once are lost, doubled or strange', () => {
  const ledger = new Ledger()
  ledger.expectOnce('group', ['a', 'b', 'c'], ['a', 'b', 'b', 'd'])
  expect(ledger.violations).toEqual([
    'group b is there twice',
    'group d is there, and nobody sent it',
    'group c is lost',
  ])
})
