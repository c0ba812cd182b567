/**
 * npm run docs:pictures: takes the screenshots of the README, docs/pictures/dashboard-light.png and -dark.png. It starts a server,
 * trains a simulated learner on a run with `complexity_mode: "frontier"`, and opens the run's page in headless Chromium.
 */
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright } from 'playwright-core'
import { withScriptServer } from '../verification/support/with-server.ts'
import { trainOnRun } from './pictures/training.ts'

const FOLDER = join(import.meta.dirname, '..', 'docs', 'pictures')
const RUN = 'demo'
/** Wide enough for three charts side by side. */
const SIZE = { width: 1312, height: 1200 }
const MARGIN = 12

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    steps: { type: 'string', default: '60' },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) {
  console.log(`npm run docs:pictures -- [options]

  --steps N    training steps of the run in the pictures (default 60)
  --url URL    a running server to use instead of starting one; its run ${RUN} is replaced`)
} else {
  await withScriptServer(values.url, async (url) => {
    await trainOnRun(url, { run: RUN, steps: Number(values.steps) })
    await takePictures(url)
  })
}

async function takePictures(url: string): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
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
  await page.getByText('live', { exact: true }).waitFor()
  await page.getByRole('img', { name: /^Reward/ }).waitFor()
  await page.getByText('Difficulty', { exact: true }).click()
  const last = await page.getByRole('region', { name: 'Tasks over training' }).boundingBox()
  const height = last ? Math.ceil(last.y + last.height) + MARGIN : SIZE.height
  await page.screenshot({ path, animations: 'disabled', clip: { x: 0, y: 0, width: SIZE.width, height } })
  await context.close()
}
