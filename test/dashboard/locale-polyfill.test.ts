import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, type World } from '../world.ts'
import { openBrowser, openPage } from './browser.ts'

let world: World
let url: string

beforeAll(async () => {
  world = await openWorld()
  url = await world.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => world.close())

it('a browser whose language is no language tag shows the pages all the same', async () => {
  const browser = await openBrowser({ LANG: 'C.UTF-8' })
  try {
    const bare = await browser.newPage()
    expect(await bare.evaluate('navigator.language')).toBe('en-US@posix')
    await bare.close()
    const { page, troubles } = await openPage(browser, url, { locale: null })
    await page.goto(url)
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByRole('img', { name: /^Per minute, last hour: Items/ }).waitFor()
    expect(troubles).toEqual([])
  } finally {
    await browser.close()
  }
})
