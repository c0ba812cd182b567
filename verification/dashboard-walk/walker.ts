/** Opens pages of the dashboard in Chromium, takes screenshots, and collects what is wrong with them. */
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import chromium from '@sparticuz/chromium'
import { type Browser, type BrowserContext, type Page, chromium as playwright } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--font-render-hinting=none']
/** Time in which a page has to settle: charts drawn, first data of its streams shown. */
const SETTLE_MS = 1200
const HEIGHT = 900

// Expressions that run in the page.
const findOverflow = `(() => {
  const over = document.documentElement.scrollWidth - innerWidth
  return over > 0 ? ['the page is ' + over + ' px wider than the window'] : []
})()`

/** A column that carries a score must neither be cut by the edge of its container nor be dropped. */
const findCutColumns = `(() => {
  const SCORE = /^(mean |last )?(score|reward|accuracy|result|difference)\\b/i
  const cut = []
  for (const table of document.querySelectorAll('main table')) {
    if (table.closest('.unseen') || table.getClientRects().length === 0) continue
    const box = (table.closest('.table') ?? table.parentElement).getBoundingClientRect()
    for (const cell of table.querySelectorAll('thead th')) {
      const name = cell.textContent.trim()
      if (!SCORE.test(name)) continue
      const { left, right, width } = cell.getBoundingClientRect()
      if (width === 0) cut.push('the column “' + name + '” is dropped')
      else if (right > Math.min(box.right, innerWidth) + 1 || left < box.left - 1) cut.push('the column “' + name + '” is cut')
    }
  }
  return cut
})()`

export interface Stop {
  /** Folder-safe name of the screenshot. */
  name: string
  /** Path below the server's URL, such as `#/runs`. */
  address: string
  /** Errors on the console that the state provokes. */
  expectedErrors?: RegExp
  /** A text that must appear. */
  text?: string | RegExp
}

export interface WalkOptions {
  folder: string
  widths: readonly number[]
  schemes: readonly ('light' | 'dark')[]
  /** Only stops whose name contains this text. */
  only: string
}

export class Walker {
  readonly problems: string[] = []
  pictures = 0
  readonly #browser: Browser
  readonly #options: WalkOptions

  private constructor(browser: Browser, options: WalkOptions) {
    this.#browser = browser
    this.#options = options
  }

  static async open(options: WalkOptions): Promise<Walker> {
    mkdirSync(options.folder, { recursive: true })
    const executablePath = await chromium.executablePath()
    return new Walker(await playwright.launch({ args: ARGS, executablePath, headless: true }), options)
  }

  close(): Promise<void> {
    return this.#browser.close()
  }

  /** Visits every stop in every scheme and width. `key`: the API key of the session. */
  async walk(url: string, stops: readonly Stop[], key?: string): Promise<void> {
    const wanted = stops.filter(({ name }) => name.includes(this.#options.only))
    if (wanted.length === 0) return
    for (const scheme of this.#options.schemes) {
      for (const width of this.#options.widths) {
        const context = await this.#browser.newContext({
          viewport: { width, height: HEIGHT },
          colorScheme: scheme,
          locale: 'en-US',
        })
        if (key !== undefined) await context.addInitScript(`sessionStorage.setItem('rgs-key', ${JSON.stringify(key)})`)
        for (const stop of wanted) await this.#visit(context, `${url}/${stop.address}`, stop, `${width}-${scheme}`)
        await context.close()
      }
    }
  }

  async #visit(context: BrowserContext, address: string, stop: Stop, variant: string): Promise<void> {
    const page = await context.newPage()
    const report = (what: string) => this.problems.push(`${stop.name} ${variant}: ${what}`)
    page.on('console', (message) => {
      if (message.type() === 'error' && !stop.expectedErrors?.test(message.text())) report(`console: ${message.text()}`)
    })
    page.on('pageerror', (error) => report(`script: ${error.message}`))
    try {
      await page.goto(address)
      if (stop.text) await page.getByText(stop.text).first().waitFor({ timeout: 20_000 })
      await sleep(SETTLE_MS)
      await page.screenshot({
        path: join(this.#options.folder, `${stop.name}-${variant}.png`),
        fullPage: true,
        animations: 'disabled',
      })
      this.pictures++
      for (const what of await page.evaluate<string[]>(findOverflow)) report(what)
      for (const what of await page.evaluate<string[]>(findCutColumns)) report(what)
      for (const what of await findAccessibilityProblems(page)) report(what)
    } catch (error) {
      report(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error))
    } finally {
      await page.close()
    }
  }
}

interface AxeViolation {
  id: string
  impact: string
  nodes: { html: string }[]
}

/** All findings of axe, of any impact, with the size of touch targets. A line for each rule. */
async function findAccessibilityProblems(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  const violations = await page.evaluate<AxeViolation[]>(
    `axe.run(document, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }).then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => ({ html })) })))`,
  )
  return violations.map(
    ({ id, impact, nodes }) => `axe ${id} (${impact}) ${nodes.length} times: ${nodes[0]?.html.slice(0, 160)}`,
  )
}
