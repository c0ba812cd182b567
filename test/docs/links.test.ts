/** Every link and image of the documentation leads to a file that exists, and to a heading that exists in it. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const ROOT = new URL('../../', import.meta.url)
const PAGES = globSync(
  [
    '*.md',
    'docs/**/*.md',
    'clients/python/README.md',
    'examples/README.md',
    'deploy/**/README.md',
    'src/**/README.md',
    'verification/*.md',
  ],
  { cwd: fileURLToPath(ROOT) },
).toSorted()
const prose = (page: string) => readFileSync(new URL(page, ROOT), 'utf8').replace(/^( *)```[\s\S]*?^ *```/gm, '')

/** As GitHub makes them of headings. */
function anchorsOf(page: URL): string[] {
  const seen = new Map<string, number>()
  return [...prose(page.href).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    const before = seen.get(anchor) ?? 0
    seen.set(anchor, before + 1)
    return before === 0 ? anchor : `${anchor}-${before}`
  })
}

it.each(PAGES)('%s', (page) => {
  const targets = [...prose(page).matchAll(/\]\(([^)\s]+)\)|\b(?:src|srcset|href)="([^"]+)"/g)].map(
    ([, link, attribute]) => link ?? attribute ?? '',
  )
  const broken = targets.filter((target) => {
    if (/^https?:\/\//.test(target)) return !URL.canParse(target)
    const [path = '', anchor] = target.split('#')
    const file = path === '' ? new URL(page, ROOT) : new URL(path, new URL(page, ROOT))
    return !existsSync(file) || (anchor !== undefined && !anchorsOf(file).includes(anchor))
  })
  expect(broken).toEqual([])
})

it('docs/README.md links to every page of docs/', () => {
  const index = prose('docs/README.md')
  const pages = PAGES.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md')
  expect(pages.filter((page) => !index.includes(`](${page.slice('docs/'.length)})`))).toEqual([])
})

it('CONTRIBUTING.md lists every folder', () => {
  const layout = readFileSync(new URL('CONTRIBUTING.md', ROOT), 'utf8')
  const listFolders = (parent: string) =>
    readdirSync(new URL(parent, ROOT), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${parent}/${name}`)
  for (const folder of [
    ...listFolders('src').map((folder) => `${folder}/`),
    ...listFolders('packages'),
    'routes/',
    'bin/',
    'clients/python/',
    'examples/',
    'deploy/',
    'docs/',
    'suites/',
    'scripts/',
  ])
    expect(layout).toContain(`\`${folder}\``)
})
