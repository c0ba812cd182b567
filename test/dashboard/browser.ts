/** A real Chromium, whose binary comes with its package; a page that remembers what went wrong on it. */
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import chromium from '@sparticuz/chromium'
import { type Browser, type Page, chromium as playwright } from 'playwright-core'

const SCREENSHOTS = join(import.meta.dirname, '..', '..', 'artifacts', 'dashboard')
/** The package's own arguments put all into one process, which does not survive the closing of a page. */
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--font-render-hinting=none']
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** `env`: what the browser finds in its environment, if not ours. */
export async function openBrowser(env?: Record<string, string>, args: string[] = []): Promise<Browser> {
  mkdirSync(SCREENSHOTS, { recursive: true })
  const executablePath = await chromium.executablePath()
  return playwright.launch({ args: [...ARGS, ...args], executablePath, headless: true, ...(env && { env }) })
}

interface PageOptions {
  width?: number
  height?: number
  scheme?: 'light' | 'dark'
  /** null: the one that the browser finds for itself. */
  locale?: string | null
}

export interface Watched {
  page: Page
  /** Errors on the console, failed scripts, requests that left the server. */
  troubles: string[]
  /** Findings of axe of every impact, a line each. `rules`: those that are not on by themselves. */
  findings(rules?: object): Promise<string[]>
  shoot(name: string): Promise<void>
  close(): Promise<void>
}

/** `forgiven`: what the console may say, since the test provokes it. */
export async function openPage(
  browser: Browser,
  url: string,
  { width = 1280, height = 900, scheme = 'light', locale = 'en-GB' }: PageOptions = {},
  forgiven = /^$/,
): Promise<Watched> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    ...(locale && { locale }),
  })
  const page = await context.newPage()
  const troubles: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' && !forgiven.test(message.text())) troubles.push(message.text())
  })
  page.on('pageerror', (error) => troubles.push(String(error.stack ?? error)))
  page.on('request', (request) => {
    const asked = request.url()
    if (!asked.startsWith(url) && !/^(data|blob|about):/.test(asked)) troubles.push(`left the server: ${asked}`)
  })
  return {
    page,
    troubles,
    async findings(rules = {}) {
      // The policy of the page forbids scripts of others; the debugger's door is not the page's.
      await page.evaluate(AXE)
      const { violations } = await page.evaluate<{
        violations: { id: string; nodes: { html: string; failureSummary: string }[] }[]
      }>(`axe.run(document, { resultTypes: ["violations"], rules: ${JSON.stringify(rules)} })`)
      return violations.flatMap(({ id, nodes }) =>
        nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary}`),
      )
    },
    async shoot(name) {
      await page.evaluate('scrollTo(0, 0)')
      await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true, animations: 'disabled' })
    },
    close: () => context.close(),
  }
}
