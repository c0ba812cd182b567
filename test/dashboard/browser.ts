/** A real Chromium, whose binary comes with its package; a page that remembers what went wrong on it. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { type Browser, type Page, chromium as playwright } from 'playwright-core'

const PICTURES = join(import.meta.dirname, '..', '..', 'artifacts', 'dashboard')
const CACHE = join(import.meta.dirname, '..', '..', 'node_modules', '.cache')
/** The package's own arguments put all into one process, which does not survive the closing of a page. */
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--font-render-hinting=none']
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Of a window, in pixels. */
const [WIDTH, HEIGHT] = [1280, 900]
const TIMEOUT_MS = 40_000 // less than a test's, so that a failure says what it waited for
const NOTHING = /^$/
/** Where nothing of the page before is open: it says that there is no such page. */
const LEFT = '#/left'

/** The words of column heads that break over lines, so that they stand in single letters. */
const LIST_BROKEN_HEADS = `[...document.querySelectorAll('thead th')].flatMap((head) => {
  const walker = document.createTreeWalker(head, NodeFilter.SHOW_TEXT)
  const broken = []
  while (walker.nextNode()) {
    const range = document.createRange()
    for (const { index, 0: word } of walker.currentNode.data.matchAll(/\\S+/g)) {
      range.setStart(walker.currentNode, index)
      range.setEnd(walker.currentNode, index + word.length)
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.push('column head broken: ' + word)
    }
  }
  return broken
})`

/** `env`: what the browser finds in its environment, if not ours. */
export async function openBrowser(env?: Record<string, string>, args: string[] = []): Promise<Browser> {
  const folder = unpackChromium()
  const all = { ...process.env, ...env, LD_LIBRARY_PATH: join(folder, 'lib') }
  return playwright.launch({
    args: [...ARGS, ...args],
    executablePath: join(folder, 'chromium'),
    headless: true,
    env: all,
    timeout: 90_000,
  })
}

/**
 * Returns a folder with Chromium and the libraries of a desktop that it needs and a server does not have. The package unpacks these
 * on AWS only, and the browser without regard to a second process, which then starts half a file.
 */
function unpackChromium(): string {
  const archives = join(dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')), '../../bin')
  const unpack = (name: string) => brotliDecompressSync(readFileSync(join(archives, name)))
  const { version } = JSON.parse(readFileSync(join(archives, '../package.json'), 'utf8')) as { version: string }
  mkdirSync(CACHE, { recursive: true })
  const folder = join(CACHE, `chromium-${version}`)
  if (existsSync(folder)) return folder
  const unpacked = mkdtempSync(`${folder}-`)
  writeFileSync(join(unpacked, 'chromium'), unpack('chromium.br'), { mode: 0o755 })
  for (const name of ['swiftshader.tar.br', 'al2023.tar.br']) {
    execFileSync('tar', ['-x', '-C', unpacked], { input: unpack(name) })
  }
  try {
    renameSync(unpacked, folder)
  } catch {
    rmSync(unpacked, { recursive: true }) // another process was faster
  }
  return folder
}

interface PageOptions {
  width?: number
  height?: number
  scheme?: 'light' | 'dark'
  /** null: the one that the browser finds for itself. */
  locale?: string | null
}

interface VisitOptions extends Omit<PageOptions, 'locale'> {
  /** What the console may say, since the test provokes it. */
  forgiven?: RegExp
}

export interface Watched {
  page: Page
  /** Errors on the console, failed scripts, requests that left the server. */
  troubles: string[]
  /**
   * Goes to a page of the dashboard as its links do: loading the dashboard anew takes 1 s of processor time. The page before is left,
   * and its storage, window size, color scheme and troubles are forgotten.
   */
  visit(hash: string, options?: VisitOptions): Promise<void>
  /** Findings of axe of every impact, a line each. `rules`: those that are not on by themselves; `only`: leaves out all others. */
  findings(rules?: object, only?: string[]): Promise<string[]>
  /** All that anybody could see, hear or be followed by: findings of axe, troubles, broken column heads, and what is wider than the window. */
  faults(only?: string[]): Promise<string[]>
  /** Takes a picture for people, if they ask for it with DASHBOARD_PICTURES=1: artifacts/dashboard/NAME.png. */
  shoot(name: string): Promise<void>
  close(): Promise<void>
}

/** `forgiven`: what the console may say, since the test provokes it. */
export async function openPage(
  browser: Browser,
  url: string,
  { width = WIDTH, height = HEIGHT, scheme = 'light', locale = 'en-GB' }: PageOptions = {},
  forgiven = NOTHING,
): Promise<Watched> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    ...(locale && { locale }),
  })
  context.setDefaultTimeout(TIMEOUT_MS)
  const page = await context.newPage()
  const { troubles, forgive } = watchTroubles(page, url, forgiven)
  const findings = (rules?: object, only?: string[]) => runAxe(page, rules, only)
  return {
    page,
    troubles,
    async visit(hash, visit = {}) {
      if (page.url().startsWith(url)) {
        await page.goto(`${url}/${LEFT}`)
        await page.evaluate('localStorage.clear(); sessionStorage.clear()')
      }
      forgive(visit.forgiven ?? NOTHING)
      await page.setViewportSize({ width: visit.width ?? WIDTH, height: visit.height ?? HEIGHT })
      await page.emulateMedia({ colorScheme: visit.scheme ?? 'light' })
      await page.goto(`${url}/${hash || '#/'}`)
      await page.getByText(LEFT).waitFor({ state: 'detached' })
    },
    findings,
    async faults(only) {
      const broken = await page.evaluate<string[]>(LIST_BROKEN_HEADS)
      const excess = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      return [
        ...(await findings({}, only)),
        ...troubles,
        ...broken,
        ...(excess > 0 ? [`${excess} pixels too wide`] : []),
      ]
    },
    async shoot(name) {
      if (process.env.DASHBOARD_PICTURES !== '1') return
      await page.evaluate('scrollTo(0, 0)')
      await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true, animations: 'disabled' })
    },
    close: () => context.close(),
  }
}

function watchTroubles(page: Page, url: string, first: RegExp) {
  const troubles: string[] = []
  let forgiven = first
  page.on('console', (message) => {
    const trouble = `${message.text()} (${message.location().url})`
    if (message.type() === 'error' && !forgiven.test(trouble)) troubles.push(trouble)
  })
  page.on('pageerror', (error) => troubles.push(String(error.stack ?? error)))
  page.on('request', (request) => {
    const asked = request.url()
    if (!asked.startsWith(url) && !/^(data|blob|about):/.test(asked)) troubles.push(`left the server: ${asked}`)
  })
  const forgive = (next: RegExp) => {
    troubles.length = 0
    forgiven = next
  }
  return { troubles, forgive }
}

async function runAxe(page: Page, rules: object = {}, only?: string[]): Promise<string[]> {
  // The policy of the page forbids scripts of others; the debugger's door is not the page's.
  if (await page.evaluate('globalThis.axe === undefined')) await page.evaluate(AXE)
  const options = { resultTypes: ['violations'], rules, ...(only && { runOnly: only }) }
  const { violations } = await page.evaluate<{
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[]
  }>(`axe.run(document, ${JSON.stringify(options)})`)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary}`),
  )
}
