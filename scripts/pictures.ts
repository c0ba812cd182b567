/**
 * npm run docs:pictures: makes the pictures of the dashboard in docs/pictures. It starts a server, trains a demo run on it as
 * `reasoning-gym-server demo` does, and takes screenshots in headless Chromium, in light and dark.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright } from 'playwright-core'
import { withScriptServer } from '../verification/support/with-server.ts'

const FOLDER = join(import.meta.dirname, '..', 'docs', 'pictures')
const RUN = 'demo'
/** Wide enough for three charts side by side. */
const SIZE = { width: 1312, height: 1200 }
const MARGIN = 12
const MAX_HEIGHT = 2600
const DEMO_TIMEOUT_MS = 600_000
const SETTLE_MS = 1500

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    steps: { type: 'string', default: '60' },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) {
  console.log(`npm run docs:pictures -- [options]

  --steps N     training steps of the demo in the pictures (default 60)
  --url URL     a running server for the screenshots; its run ${RUN} is replaced`)
} else {
  await withScriptServer(values.url, async (url) => {
    await trainDemo(url, Number(values.steps))
    await takePictures(url)
  })
}

/** Starts a demo and waits for its last step. */
async function trainDemo(url: string, steps: number): Promise<void> {
  await fetch(`${url}/runs/${RUN}`, { method: 'DELETE' })
  const headers = { 'content-type': 'application/json' }
  const started = await fetch(`${url}/demo`, { method: 'POST', headers, body: JSON.stringify({ run: RUN, steps }) })
  if (!started.ok) throw new Error(`POST /demo: ${started.status} ${await started.text()}`)
  for (const until = Date.now() + DEMO_TIMEOUT_MS; Date.now() < until; await sleep(1000)) {
    const { progress } = (await (await fetch(`${url}/runs/${RUN}`)).json()) as { progress?: { step?: number | null } } // a part of Run
    if ((progress?.step ?? 0) >= steps - 1) return
  }
  throw new Error('The demo did not end in time')
}

async function takePictures(url: string): Promise<void> {
  const browser = await playwright.launch({
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--font-render-hinting=none'],
    executablePath: await chromium.executablePath(),
    headless: true,
  })
  try {
    for (const scheme of ['light', 'dark'] as const) {
      const path = join(FOLDER, `dashboard-${scheme}.png`)
      await takePicture(browser, url, { scheme, path })
      console.log(`${path}: ${Math.round(statSync(path).size / 1000)} KB`)
    }
  } finally {
    await browser.close()
  }
}

async function takePicture(
  browser: Browser,
  url: string,
  { scheme, path }: { scheme: 'light' | 'dark'; path: string },
): Promise<void> {
  const context = await browser.newContext({ viewport: SIZE, colorScheme: scheme, locale: 'en-US' })
  const page = await context.newPage()
  await page.goto(`${url}/#/runs/${RUN}`)
  await page.getByText('live', { exact: true }).first().waitFor()
  await page.getByRole('img', { name: /^Reward: / }).waitFor()
  await page.getByText('Difficulty', { exact: true }).first().click()
  await sleep(SETTLE_MS)
  await page.evaluate('scrollTo(0, 0)')
  const heat = await page.getByRole('region', { name: 'Tasks over training' }).boundingBox()
  const end = heat && heat.y + heat.height + MARGIN
  const height = Math.min(end === null ? SIZE.height : Math.ceil(end), MAX_HEIGHT)
  await page.screenshot({
    path,
    fullPage: true,
    animations: 'disabled',
    clip: { x: 0, y: 0, width: SIZE.width, height },
  })
  await context.close()
}
