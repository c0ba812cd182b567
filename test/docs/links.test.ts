/** Every link of the README and of docs/ leads to a file, and to a heading of it, that is there. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const ROOT = new URL('../../', import.meta.url)
const PAGES = [
  ...[
    'README.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'clients/python/README.md',
    'examples/README.md',
    'deploy/kubernetes/README.md',
  ],
  ...readdirSync(new URL('docs', ROOT), { recursive: true })
    .map(String)
    .flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
]
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
  const targets = [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  const broken = targets.filter((target) => {
    if (/^https?:\/\//.test(target)) return !URL.canParse(target)
    const [path = '', anchor] = target.split('#')
    const file = path === '' ? new URL(page, ROOT) : new URL(path, new URL(page, ROOT))
    return !existsSync(file) || (anchor !== undefined && !anchorsOf(file).includes(anchor))
  })
  expect(broken).toEqual([])
})

it('every page of docs/ is linked from the README', () => {
  const readme = prose('README.md')
  expect(PAGES.filter((page) => page.startsWith('docs/') && !readme.includes(`](${page}`))).toEqual([])
})

it('CONTRIBUTING.md tells of every folder', () => {
  const layout = readFileSync(new URL('CONTRIBUTING.md', ROOT), 'utf8')
  const folders = readdirSync(new URL('src', ROOT), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [`src/${entry.name}/`] : [],
  )
  for (const folder of [
    ...folders,
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
