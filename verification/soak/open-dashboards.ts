/** Pages of the dashboard that stay open in a real Chromium; what their scripts hold is measured like the server's memory. */
import chromium from '@sparticuz/chromium'
import { type Browser, type Page, chromium as playwright } from 'playwright-core'
import type { CallLog } from './soak-client.ts'
import { STEADY_RUN } from './traffic.ts'

/** The package's own arguments put all into one process, which does not survive the closing of a page. */
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--enable-precise-memory-info']
const HASHES = ['', `#/runs/${STEADY_RUN}`]
const BYTES_PER_MB = 1024 * 1024

export class OpenDashboards {
  readonly #browser: Browser
  readonly #pages: Map<string, Page>

  private constructor(browser: Browser, pages: Map<string, Page>) {
    this.#browser = browser
    this.#pages = pages
  }

  static async open(url: string, log: CallLog): Promise<OpenDashboards> {
    const browser = await playwright.launch({
      args: ARGS,
      executablePath: await chromium.executablePath(),
      headless: true,
    })
    const pages = new Map<string, Page>()
    for (const hash of HASHES) {
      const page = await browser.newPage()
      const name = `dashboard /${hash}`
      page.on('pageerror', (error) => log.addUnexpected(name, 'script error', String(error.stack)))
      page.on('console', (message) => {
        if (message.type() === 'error') log.addUnexpected(name, 'console error', message.text())
      })
      await page.goto(`${url}/${hash}`)
      pages.set(name, page)
    }
    return new OpenDashboards(browser, pages)
  }

  /** Page to the megabytes of its JavaScript heap. */
  async measureHeaps(): Promise<Map<string, number>> {
    const heaps = new Map<string, number>()
    for (const [name, page] of this.#pages) {
      heaps.set(`${name}, JS heap`, Number(await page.evaluate('performance.memory.usedJSHeapSize')) / BYTES_PER_MB)
    }
    return heaps
  }

  close(): Promise<void> {
    return this.#browser.close()
  }
}
