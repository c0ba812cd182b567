import type { Browser, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorld, type World } from '../world.ts'
import { openBrowser, openPage, type Watched } from './browser.ts'
import { trainOverHttp } from './training.ts'

const RUN = 'curriculum-a'
const TASKS = ['leg_counting', 'gcd', 'spell_backward', 'basic_arithmetic', 'word_sorting', 'bitwise_arithmetic']
const PHONE = { width: 360, height: 800 }

let world: World
let browser: Browser
let url: string
/** Visits one page after another. */
let watched: Watched
let page: Page

beforeAll(async () => {
  world = await openWorld({ worker: true })
  url = await world.app.listen({ host: '127.0.0.1', port: 0 })
  const settings = {
    tasks: TASKS,
    complexity_mode: 'curriculum',
    group_size: 8,
    batch_size: 16,
    min_trained_tokens: 0,
    scoring: 'hardened',
  }
  await world.call('PUT', `/runs/${RUN}`, settings)
  ;[browser] = await Promise.all([
    openBrowser(),
    trainOverHttp(url, { run: RUN, steps: 6, horizon: 20, groups: 8, groupSize: 8 }),
  ])
  watched = await openPage(browser, url)
  page = watched.page
}, 180_000)
afterAll(async () => {
  await browser?.close()
  await world.close()
})

async function assertSound(name: string, only?: string[]): Promise<void> {
  await watched.shoot(name)
  expect(await watched.faults(only)).toEqual([])
}

describe('Overview', () => {
  it('tells health in a sentence, rates and processes, and is live', async () => {
    await watched.visit('')
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByText('the engine is up').waitFor()
    await page.getByRole('link', { name: RUN }).waitFor()
    await page.getByRole('img', { name: /^Per minute, last hour: Items/ }).waitFor()
    await page.getByRole('img', { name: /^reward / }).waitFor()
    await page.getByText('Queues').click()
    await page.getByRole('row', { name: /^score-group/ }).waitFor()
    await assertSound('overview')
  })

  it('shows a run as soon as there is one', async () => {
    await watched.visit('')
    await page.getByRole('link', { name: RUN }).waitFor()
    await world.call('PUT', '/runs/newcomer', { tasks: ['gcd'] })
    await page.getByRole('link', { name: 'newcomer' }).waitFor()
  })

  it('is quiet while the tab is hidden, and live again when it is seen', async () => {
    await watched.visit('')
    await page.getByText('live', { exact: true }).waitFor()
    const asked: string[] = []
    const note = (request: Request) => asked.push(new URL(request.url()).pathname)
    page.on('request', note)
    const show = (state: string) =>
      page.evaluate(
        `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`,
      )
    await show('hidden')
    asked.length = 0 // the page may have asked for the metrics of its runs since it is live
    await page.getByText('not live').waitFor()
    expect(asked).toEqual([])
    await show('visible')
    await page.getByText('live', { exact: true }).waitFor()
    expect(asked.filter((path) => !/^\/(runs|eval$)/.test(path))).toEqual(['/events']) // runs and evals are asked for every few seconds
    page.off('request', note)
  })

  it('does not call a server ready that answers no more, until it answers again', async () => {
    await watched.visit('', { forgiven: /ERR_FAILED/ })
    await page.getByText('the engine is up').waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    await page.route('**/events', (route) => route.abort())
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))") // it listens anew
    await page.getByText(/^The data below is from [0-9:]+, the time of the last response\.$/).waitFor()
    expect(await page.getByText('the engine is up').count()).toBe(0)
    await page.unroute('**/events')
    await page.getByText('the engine is up').waitFor()
    expect(watched.troubles).toEqual([])
  })
})

describe('Tasks', () => {
  it('lists all of them, by category, and finds those one looks for', async () => {
    await watched.visit('#/tasks')
    await page.getByText('105 of 105').waitFor()
    await page.getByLabel('Search').fill('sudoku')
    await page.getByText('2 of 105').waitFor()
    await page.getByLabel('Search').fill('queens')
    await page.getByText('1 of 105').waitFor()
    await page.getByText('Complete a chess board with queens').waitFor()
    expect(page.url()).toContain('#/tasks?q=queens')
    await page.getByLabel('Search').fill('')
    await page.getByLabel('Category').selectOption('logic')
    await page.getByText('7 of 105').waitFor()
    await assertSound('tasks-of-a-category')
    await page.getByLabel('Category').selectOption('')
    await page.getByText('105 of 105').waitFor()
    await watched.shoot('tasks')
    for (const size of [{ width: 1280, height: 900 }, PHONE]) {
      await page.setViewportSize(size)
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    }
  })

  it('an answer of several lines keeps them', async () => {
    await watched.visit('#/tasks/mini_sudoku')
    await page.getByRole('button', { name: 'Show the answer' }).click()
    const answer = page.getByRole('region', { name: 'Reference answer' })
    // biome-ignore lint/performance/useDomNodeTextContent: what is read, with the lines that the style keeps
    expect((await answer.innerText()).trim().split('\n')).toHaveLength(4)
    await page.getByRole('textbox').fill('1 2 3 4\n1 2 3 4')
    await page.getByRole('button', { name: 'Score', exact: true }).click()
    const read = page.getByRole('region', { name: 'Extracted answer' })
    await read.getByRole('row').nth(1).waitFor()
    expect(await read.getByRole('row').count()).toBe(2)
  })

  it('one shows its example at a difficulty, its config, and scores what is typed, with the reason', async () => {
    await watched.visit('#/tasks/leg_counting')
    const question = page.getByRole('region', { name: 'Question' })
    const before = await question.textContent()
    await page.getByRole('slider').fill('23')
    await page.getByText('difficulty 1.00').waitFor()
    await page.getByText('at rung 24. The floors are the mean scores').waitFor()
    await page.getByRole('img', { name: /^Mean score by rung: guess floor/ }).waitFor()
    await page.getByRole('button', { name: 'Upstream' }).click()
    expect(await page.getByRole('row', { name: /^min_animals/ }).textContent()).toContain('above 0')
    await expect.poll(() => question.textContent()).not.toBe(before)
    await page.getByRole('button', { name: 'Completion' }).click()
    await page.getByRole('textbox').fill('I have <think>counted</think> them.')
    await page.getByRole('button', { name: 'Score', exact: true }).click()
    await page.getByText('There is no <answer> outside the reasoning').waitFor()
    await page.getByRole('button', { name: 'Show the answer' }).click()
    const right = await page.getByRole('region', { name: 'Reference answer' }).textContent()
    await page.getByRole('button', { name: 'Answer', exact: true }).click()
    await page.getByRole('textbox').fill(right ?? '')
    await page.getByRole('button', { name: 'Score', exact: true }).click()
    await page.getByText('The answer is correct.').waitFor()
    await assertSound('task')
  })
})

describe('Runs', () => {
  it('lists them', async () => {
    await watched.visit('#/runs')
    await page.getByRole('link', { name: RUN }).waitFor()
    await assertSound('runs')
  })

  it('two are picked and compared; one is archived and found again', async () => {
    await world.call('PUT', '/runs/other', { tasks: TASKS.slice(0, 3), group_size: 2 })
    await watched.visit('#/runs?sort=name')
    for (const name of [RUN, 'other']) await page.getByLabel(`Select ${name}`, { exact: true }).check()
    await page.getByRole('link', { name: 'Compare 2 runs' }).click()
    await page.getByRole('rowheader', { name: 'group_size' }).waitFor()
    expect(await page.getByRole('rowheader', { name: 'preset' }).count()).toBe(0)
    await page.getByRole('button', { name: /^All \(/ }).click()
    await page.getByRole('rowheader', { name: 'preset' }).waitFor()
    await page.getByRole('img', { name: new RegExp(`^Reward: ${RUN} `) }).waitFor()
    await watched.shoot('compare-runs')
    expect(await watched.findings()).toEqual([])
    await page.goto(`${url}/#/runs`)
    await page.getByRole('button', { name: 'Archive other', exact: true }).click()
    await page.getByRole('link', { name: 'other', exact: true }).waitFor({ state: 'detached' })
    await page.getByLabel('Archived runs').check()
    await page.getByRole('link', { name: 'other', exact: true }).waitFor()
    await assertSound('runs-archived')
    await world.call('DELETE', '/runs/other')
  })

  it('a fork shows where it comes from, and is compared with its run', async () => {
    await world.call('POST', `/runs/${RUN}/fork`, { name: 'branch' })
    await watched.visit(`#/runs/${RUN}`)
    await page.getByRole('link', { name: 'branch', exact: true }).click()
    await page.getByText(/^Forked from/).waitFor()
    await assertSound('fork')
    await page.getByRole('link', { name: 'Compare', exact: true }).click()
    await page.getByRole('cell', { name: new RegExp(`^${RUN}, step `) }).waitFor()
    await page.getByRole('list', { name: 'Marks' }).getByText(`branch was forked from ${RUN}`).waitFor()
    await watched.shoot('compare-fork')
    expect(await watched.findings()).toEqual([])
    await world.call('DELETE', '/runs/branch')
  })

  it('one shows its figures, its tasks over training, its batches and its settings', async () => {
    await watched.visit(`#/runs/${RUN}`)
    await page.getByText('live', { exact: true }).waitFor()
    await page
      .getByText('Rollouts come in and are scored.')
      .or(page.getByText('no trainer has requested'))
      .first()
      .waitFor()
    await page.getByRole('img', { name: /^Reward: reward( and score|) [0-9.]+/ }).waitFor()
    await page.getByRole('table', { name: 'Accuracy by task' }).waitFor()
    const listTops = () =>
      page.locator('.chart .plot').evaluateAll((all) => all.slice(0, 3).map((plot) => plot.getBoundingClientRect().top))
    const [top] = await listTops()
    for (const x of [60, 120, 240]) {
      await page
        .locator('.chart .plot')
        .first()
        .hover({ position: { x, y: 60 } })
      expect(await listTops()).toEqual([top, top, top]) // no legend wraps
    }
    await page.getByRole('button', { name: 'Difficulty', exact: true }).click()
    await page.getByRole('table', { name: 'Difficulty by task' }).waitFor()
    await page
      .getByRole('region', { name: 'Diagnosis', exact: true })
      .getByRole('row', { name: /^all tasks/ })
      .waitFor()
    await page.getByRole('button', { name: 'Medium' }).click()
    await page.getByRole('button', { name: 'Enlarge Correct rollouts' }).click()
    const dialog = page.getByRole('dialog', { name: 'Correct rollouts' })
    const download = page.waitForEvent('download')
    await dialog.getByRole('button', { name: 'Download CSV' }).click()
    expect((await download).suggestedFilename()).toBe(`${RUN}-correct-rollouts.csv`)
    await dialog.getByRole('button', { name: 'Close' }).click()
    expect(page.url()).toMatch(/color=difficulty&smooth=medium$/)
    await page.getByText('Batch of step 6').waitFor()
    await page.getByRole('group', { name: 'Axis' }).getByRole('button', { name: 'Time' }).click()
    await page.locator('.key.place', { hasText: /:\d\d/ }).first().waitFor()
    await watched.shoot('run-over-time')
    await page.getByRole('group', { name: 'Axis' }).getByRole('button', { name: 'Steps' }).click()
    await page.getByRole('columnheader', { name: 'mean reward' }).getByRole('button').click()
    expect(await page.getByRole('link', { name: 'gcd', exact: true }).count()).toBeGreaterThan(0)
    await page.getByRole('link', { name: 'Groups', exact: true }).click()
    await page.getByRole('combobox', { name: 'Format fault' }).selectOption('no_answer')
    await page.getByText(/found\. Searched \d+ of \d+ groups/).waitFor()
    await page.getByRole('list', { name: 'List of groups' }).getByRole('link').first().click()
    await page.getByText('8 rollouts, worst first').waitFor()
    await page.getByText('drawn with probability 0.17').waitFor()
    const rollouts = page.getByRole('rowheader').getByRole('link', { name: /right|wrong/ })
    await rollouts.first().waitFor()
    await page.getByRole('article', { name: /^Rollout \d$/ }).waitFor()
    const first = page.url()
    expect(first).toMatch(/\/groups\/[^?]+\?fault=no_answer$/)
    await page.keyboard.press('j')
    await page.waitForURL(/[?&]rollout=\d/)
    expect(await rollouts.locator('xpath=self::*[@aria-current]').count()).toBe(1)
    await page.getByText(/^Reasoning, [\d,]+ characters$/).click()
    await expect.poll(() => page.evaluate("localStorage.getItem('rgs-thinking')")).toBe('open')
    await page.reload()
    await page.locator('.thinking[open]').first().waitFor()
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await page.getByText('curriculum_target_accuracy', { exact: true }).waitFor()
    await page.getByLabel(/^Tags, /).fill('baseline, week 48')
    await page.getByLabel('Notes', { exact: true }).fill('Half the learning rate.')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved').waitFor()
    await page.locator('.notes', { hasText: 'Half the learning rate.' }).waitFor()
    await watched.shoot('run-settings')
    await page.getByRole('link', { name: 'Overview', exact: true }).last().click()
    await page.getByRole('table', { name: 'Accuracy by task' }).waitFor()
    await assertSound('run')
  })

  it('a long completion is read whole, and a group that comes in while one is read waits for a click', async () => {
    const run = 'long-thoughts'
    await world.call('PUT', `/runs/${run}`, { tasks: ['gcd'] })
    const { body } = await world.call('POST', '/items', { run, step: 0, count: 1 }, { prefer: 'wait=60' })
    const completion = `<think>${'so '.repeat(500)}</think>${'hence '.repeat(50)}<answer>5</answer>`
    await world.call('POST', '/rollouts', { run, item_id: body.items[0].id, rollouts: [{ completion }] })
    await watched.visit(`#/runs/${run}/groups`)
    await page.getByRole('list', { name: 'List of groups' }).getByRole('link').click()
    await page.getByText('Reasoning, 1,500 characters', { exact: true }).waitFor()
    await page.locator('.completion .text', { hasText: 'hence <answer>5</answer>' }).waitFor()
    expect(await page.getByText('not closed').count()).toBe(0)
    await world.call('POST', '/rollouts', { run, item_id: body.items[0].id, rollouts: [{ completion: 'late' }] })
    await page.getByRole('button', { name: '1 new group — show' }).click()
    await page.getByText('2 of 2 shown').waitFor()
    await page.getByRole('link', { name: 'All groups' }).click()
    await page.mouse.move(0, 0)
    await world.call('POST', '/rollouts', { run, item_id: body.items[0].id, rollouts: [{ completion: 'later' }] })
    await page.getByText('3 of 3 shown').waitFor()
    await assertSound('run-long-thoughts')
    await page.getByRole('link', { name: 'Score again' }).click()
    await page.getByLabel('extraction').selectOption('bare')
    await page.getByRole('button', { name: 'Start' }).click()
    const result = page.getByRole('region', { name: 'extraction: bare' })
    await result.getByRole('row', { name: /^gcd/ }).waitFor()
    await assertSound('run-rescore')
  })

  it('a filter that is chosen as soon as it is drawn counts', async () => {
    await watched.visit(`#/runs/${RUN}`)
    await page.evaluate(`new MutationObserver((_, observer) => {
      const option = document.querySelector('option[value="no_answer"]')
      if (!option) return
      observer.disconnect()
      option.parentElement.value = option.value
      option.parentElement.dispatchEvent(new Event('change', { bubbles: true }))
    }).observe(document.body, { childList: true, subtree: true })`)
    await page.getByRole('link', { name: 'Groups', exact: true }).click()
    await page.getByText(/found\. Searched \d+ of \d+ groups/).waitFor()
    expect(await page.getByRole('combobox', { name: 'Format fault' }).inputValue()).toBe('no_answer')
  })

  it('the list of groups stands still under the pointer, and counts as new only what it does not show', async () => {
    const run = 'still'
    await world.call('PUT', `/runs/${run}`, { tasks: ['gcd'] })
    const { body: earlier } = await world.call('GET', `/runs/${run}`)
    const { body } = await world.call('POST', '/items', { run, step: 0, count: 1 }, { prefer: 'wait=60' })
    const post = (completion: string) => {
      const group = { run, item_id: body.items[0].id, rollouts: [{ completion }] }
      return world.call('POST', '/rollouts', group, { prefer: 'wait=60' })
    }
    await post('first')
    const shown = Promise.withResolvers<void>()
    await page.route(`**/runs/${run}`, (route) => route.fulfill({ json: earlier }))
    await page.route('**/events?run=*', (route) => shown.promise.then(() => route.continue()))
    await watched.visit(`#/runs/${run}/groups`)
    await page.getByText('0 groups', { exact: true }).waitFor() // the figures are older than the list
    await page.getByRole('list', { name: 'List of groups' }).getByRole('link').hover()
    shown.resolve()
    await page.getByText('1 group', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'show' }).count()).toBe(0)
    await post('second')
    await page.getByRole('button', { name: '1 new group — show' }).waitFor()
    const tops = await page.evaluate<number[]>(`new Promise((resolve) => {
      const tops = []
      const look = () => {
        tops.push(document.querySelector('.entries a').getBoundingClientRect().top)
        if (tops.length < 60) requestAnimationFrame(look)
        else resolve(tops)
      }
      look()
    })`)
    expect(new Set(tops).size).toBe(1)
    expect(await page.getByRole('button', { name: '1 new group — show' }).count()).toBe(1)
    await page.unrouteAll()
  })

  it('the grid of a wrong answer stands beside the expected one, with the wrong cells marked', async () => {
    const run = 'a-grid'
    const { items } = (await world.call('POST', '/items', { task: 'mini_sudoku', seed: 1 })).body
    const { answer } = (await world.call('GET', `/items/${items[0].id}?reveal=true`)).body
    const wrong = answer.replace(/\d$/, (digit: string) => String((Number(digit) % 4) + 1))
    const rollouts = [answer, wrong, wrong].map((text) => ({ completion: `<answer>${text}</answer>` }))
    const group = { run, item_id: items[0].id, group_id: 'grid', rollouts }
    await world.call('PUT', `/runs/${run}`, {})
    await world.call('POST', '/rollouts', group, { prefer: 'wait=30' })
    await watched.visit(`#/runs/${run}/groups/grid`, PHONE)
    await page.getByText('3 rollouts, worst first; equal texts are one row').waitFor()
    await page.getByRole('rowheader', { name: '2 × 2' }).waitFor()
    await page.getByText('1 cell of 16 marked').waitFor()
    const own = page.getByRole('region', { name: 'Extracted answer' })
    expect(await own.locator('td.wrong').count()).toBe(1)
    expect(await own.locator('td.given').count()).toBeGreaterThan(0)
    expect(await page.getByRole('region', { name: 'Expected answer' }).locator('td').count()).toBe(16)
    await assertSound('group-phone')
  })

  it('how long ago something was grows while nothing happens', async () => {
    const own = await openPage(browser, url)
    const { page } = own
    await page.clock.install()
    await page.goto(`${url}/#/runs/${RUN}`)
    const last = page.getByRole('table').filter({ hasText: 'with signal' }).locator('time').first()
    const title = await last.getAttribute('title')
    expect(title).toMatch(/\d{4}.* (GMT|UTC)/)
    await page.clock.fastForward('03:00:00')
    await expect.poll(() => last.textContent()).toMatch(/^3 h ago$/)
    await own.close()
  })

  it('one that is open shows what comes in', async () => {
    await watched.visit(`#/runs/${RUN}`)
    await page.getByText('live', { exact: true }).waitFor()
    await world.call('PUT', `/runs/${RUN}`, { batch_size: 24 })
    await page.getByText(/^Batch of step 6: \d+ of 24 rollouts/).waitFor()
    await world.call('PATCH', `/runs/${RUN}`, { mix: { tasks: [...TASKS, { task: 'gcd', weight: 3 }] } })
    await page.getByRole('list', { name: 'Marks' }).getByText('step 5: settings: tasks').waitFor()
    await page.getByRole('region', { name: 'Flow' }).getByText('Tokens never trained').waitFor()
    await assertSound('run-with-mark')
  })
})

describe('everywhere', () => {
  it.each([
    ['overview', '', 'Queues'],
    ['tasks', '#/tasks?category=logic', '7 of 105'],
    ['task', '#/tasks/rush_hour', 'The floors are the mean scores'],
    ['run', `#/runs/${RUN}`, 'Batch of step'],
    ['evals', '#/evals', 'There are no evals yet'],
  ])('is sound in the dark and on a phone: %s', async (name, hash, text) => {
    await watched.visit(hash, { scheme: 'dark' })
    await page.getByText(text).first().waitFor()
    await assertSound(`${name}-dark`, ['color-contrast']) // the others do not ask for colors
    await watched.visit(hash, PHONE)
    await page.getByText(text).first().waitFor()
    await assertSound(`${name}-phone`)
  })

  it('can be walked with the keyboard', async () => {
    await watched.visit('')
    await page.reload() // nothing has the focus
    await page.getByText('live', { exact: true }).waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
    for (let k = 0; k < 3; k++) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('105 of 105').waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Tasks')
  })

  it('the name of a run may be as long as it can be: evals on a phone', async () => {
    const run = 'r'.repeat(63)
    await world.call('PUT', `/runs/${run}`, {})
    for (const step of [1, 2]) {
      const suite = { tasks: ['gcd'], n: 1 }
      const { body } = await world.call('POST', '/eval', { model: null, suite, run, step })
      const completions = [{ sample_id: 's0', completion: '<answer>1</answer>' }]
      await world.call('POST', `/eval/${body.id}/completions`, { completions })
    }
    await watched.visit('#/evals', { width: 320, height: 600 })
    await page.getByRole('img', { name: /^Mean score over training/ }).waitFor()
    await assertSound('evals-long-name')
  })

  it.each([
    ['#/tasks/%E0%A4', 'unknown task'],
    ['#/tasks/..', 'There is no page at #/tasks/..'],
    ['#/tasks/%2E%2e', 'There is no page at'],
    ['#/runs/.', 'There is no page at'],
    ['#/evals/..', 'There is no page at'],
    ['#/runs/a/b', 'There is no page at'],
    ['#/overview/x', 'There is no page at'],
    ['#/constructor', 'There is no page at'],
    ['#/runs/No%20Name', 'invalid request'],
    ['#/evals/compare', 'Select two evals in the'],
  ])('an address that names nothing leads to a page all the same: %s', async (hash, text) => {
    await watched.visit(hash, { forgiven: /40[04]/ })
    await page.getByText(text).waitFor()
    expect(watched.troubles).toEqual([])
  })

  it('an address that names nothing leads to a page even if it is the first one', async () => {
    await watched.visit('#/tasks/%E0%A4', { forgiven: /40[04]/ })
    await page.reload()
    await page.getByText('unknown task').waitFor()
    expect(watched.troubles).toEqual([])
  })

  it('a run that is not there is told in the server’s words', async () => {
    await watched.visit('#/runs/nobody', { forgiven: /404/ })
    await page.getByRole('alert').getByText('unknown run').waitFor()
  })
})
