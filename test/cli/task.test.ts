import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from './command-line.ts'

const FIXTURES = new URL('../fixtures', import.meta.url).pathname
const COPIED = { recursive: true, filter: (path: string) => !path.includes('__pycache__') }
const folder = mkdtempSync(join(tmpdir(), 'rgs-task-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Finding {
  name: string
  is: string
  found: string
}

async function check(place: string) {
  const { code, stdout } = await run(['task', 'check', place, '--json'])
  const report = JSON.parse(stdout) as {
    ok: boolean
    files: Finding[]
    tasks: Record<string, { findings: Finding[] }>
  }
  const failed = (findings: Finding[]) => findings.filter(({ is }) => is === 'fail').map(({ name }) => name)
  return { code, report, failed }
}

describe('task new', () => {
  let written: Awaited<ReturnType<typeof run>>
  beforeAll(async () => {
    written = await run(['task', 'new', 'sort_words', '--path', folder])
  })

  it('writes a task that passes every check, with a test', async () => {
    expect(written).toMatchObject({ code: 0, stderr: expect.stringContaining(`task check ${folder}`) })
    expect(written.stdout.trim().split('\n')).toEqual([
      join(folder, 'sort_words.py'),
      join(folder, 'test_sort_words.py'),
    ])
    const { code, report } = await check(join(folder, 'sort_words.py'))
    const findings = [...report.files, ...(report.tasks.sort_words?.findings ?? [])]
    const isBusy = ({ name, is }: Finding) => is === 'warn' && /^(?:score )?speed$/.test(name) // the machine
    expect(findings.filter((finding) => finding.is !== 'ok' && !isBusy(finding))).toEqual([])
    expect(findings.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'tests',
        'determinism',
        'distinct',
        'oracle',
        'guesses',
        'lists',
        'hostile',
        'feedback',
        'ladder',
      ]),
    )
    expect(code).toBe(0)
  })

  it('never overwrites a file, and rejects names that cannot be used', async () => {
    const before = readFileSync(join(folder, 'sort_words.py'), 'utf8')
    const again = await run(['task', 'new', 'sort_words', '--path', folder])
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('exists already') })
    expect(readFileSync(join(folder, 'sort_words.py'), 'utf8')).toBe(before)
    for (const [name, reason] of [
      ['Sort-Words', 'use lowercase letters'],
      ['chain_sum', 'The library has a task named chain_sum'],
    ] as const) {
      expect(await run(['task', 'new', name, '--path', folder])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(reason),
      })
      expect(existsSync(join(folder, `${name}.py`))).toBe(false)
    }
  })
})

describe('task check', () => {
  let place: string
  let checked: Awaited<ReturnType<typeof check>>
  /** A task like the template but for one method. */
  const writeVariant = async (name: string, method: string, code: string) => {
    await run(['task', 'new', name, '--path', place])
    const file = join(place, `${name}.py`)
    const template = readFileSync(file, 'utf8')
    const datasetClass = /class (\w+)\(ProceduralDataset\)/.exec(template)?.[1]
    writeFileSync(file, template.replace(/^register_dataset/m, `${datasetClass}.${method} = ${code}\n$&`))
    rmSync(join(place, `test_${name}.py`))
  }
  const failuresOf = (task: string) => checked.failed(checked.report.tasks[task]?.findings ?? [])
  beforeAll(async () => {
    place = mkdtempSync(join(folder, 'mixed-'))
    cpSync(join(FIXTURES, 'broken-tasks'), place, COPIED)
    cpSync(join(FIXTURES, 'custom-tasks', 'missing_number'), join(place, 'missing_number'), COPIED)
    await run(['task', 'new', 'differs', '--path', place])
    writeFileSync(join(place, 'differs.scorer.js'), 'export default { differs: (answer) => (answer === "1" ? 1 : 0) }')
    const explainers = { says_too_much: '"Wrong."', says_nothing: 'None' }
    for (const [name, value] of Object.entries(explainers))
      await writeVariant(name, 'explain_answer', `staticmethod(lambda question, answer: ${value})`)
    await writeVariant('needs_self', 'explain_answer', 'lambda self, question, answer: None')
    const searching = 'lambda self, answer, entry: float(entry["answer"] in (answer or ""))'
    await writeVariant('pays_lists', 'score_answer', searching)
    writeFileSync(join(place, 'wrong.py'), 'import no_such_package')
    checked = await check(place)
  })

  it('names the five faults of a broken task', () => {
    expect(failuresOf('broken_sums')).toEqual(['JSON', 'determinism', 'guesses', 'hostile', 'ladder'])
    expect(checked.code).toBe(1)
  })

  it('holds a scorer in TypeScript against the Python scorer', () => {
    expect(failuresOf('missing_number')).toEqual([])
    const scorer = checked.report.tasks.missing_number?.findings.find(({ name }) => name === 'scorer')
    expect(scorer).toMatchObject({ is: 'ok', found: expect.stringContaining('agrees with score_answer') })
  })

  it('reports a scorer that differs, and a file that cannot be imported', () => {
    expect(failuresOf('differs')).toEqual(['scorer'])
    expect(checked.report.files[0]?.found).toContain("No module named 'no_such_package' (wrong.py, line 1)")
  })

  it('finds a scorer that pays for an answer with everything in it, and shows the answer', () => {
    const lists = checked.report.tasks.pays_lists?.findings.find(({ name }) => name === 'lists')
    expect(lists).toMatchObject({ is: 'fail', found: expect.stringMatching(/^a list .*, such as ".*, scores 1.00 on/) })
  })

  it('holds feedback to saying nothing about right answers, and never failing', () => {
    const feedbackOf = (task: string) =>
      checked.report.tasks[task]?.findings.find(({ name }) => name === 'feedback')?.found
    expect(feedbackOf('says_too_much')).toMatch(/of its own answer .* it says "Wrong."/)
    expect(feedbackOf('says_nothing')).toMatch(/says nothing about any of \d+ wrong answers/)
    expect(feedbackOf('needs_self')).toContain('raises TypeError')
  })

  it('says what is wrong with a path or a name', async () => {
    expect(await run(['task', 'check', './nowhere'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('there is no folder or Python file'),
    })
    expect(await run(['task', 'check', folder, '--task', 'other'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('has no task named other. Its tasks: sort_words'),
    })
  })
})
