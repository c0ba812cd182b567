/** No regular expression of the server takes more than linear time. */
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join, relative } from 'node:path'
import { type Literal, parse } from 'acorn'
import { simple } from 'acorn-walk'
import { analyse } from 'scslre'
import { expect, it, vi } from 'vitest'

interface RegexPattern {
  file: string
  source: string
  flags: string
}

const ROOT = join(import.meta.dirname, '..', '..')

/** Literals of every file, and what the modules construct when they are loaded. */
async function listRegexPatterns(folders: string[]): Promise<RegexPattern[]> {
  const files = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(ts|js)$/.test(entry.name) && !entry.parentPath.endsWith('assembly')) // which is no TypeScript
      .map((entry) => join(entry.parentPath, entry.name)),
  )
  return [
    ...files.flatMap(findLiterals),
    ...(await collectConstructed(files.filter((file) => /packages\/scorers\/src\//.test(file)))),
  ]
}

function findLiterals(path: string): RegexPattern[] {
  const found: RegexPattern[] = []
  const code = stripTypeScriptTypes(readFileSync(path, 'utf8'))
  simple(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }), {
    Literal({ regex }: Literal) {
      if (regex) found.push({ file: relative(ROOT, path), source: regex.pattern, flags: regex.flags })
    },
  })
  return found
}

async function collectConstructed(files: string[]): Promise<RegexPattern[]> {
  const found: RegexPattern[] = []
  const Real = globalThis.RegExp
  let file = ''
  globalThis.RegExp = new Proxy(Real, {
    construct(target, [source, flags]: [string, string?]) {
      found.push({ file, source: String(source), flags: flags ?? '' })
      return new target(source, flags)
    },
  })
  try {
    for (const path of files) {
      file = relative(ROOT, path)
      await import(path)
    }
  } finally {
    globalThis.RegExp = Real
  }
  return found
}

/** In words, what makes the pattern super-linear. */
function describeSuperLinear({ source, flags }: RegexPattern): string[] {
  return analyse({ source, flags }).reports.map(({ type, exponential, character }) => {
    const growth = exponential ? 'exponential' : 'polynomial'
    return `${growth}, ${type}, on ${String(character.literal.source)}`
  })
}

it('no regular expression of the server takes more than linear time', { timeout: 180_000 }, async () => {
  vi.resetModules() // a module constructs its expressions when it is loaded, and an earlier test may have loaded it
  const patterns = await listRegexPatterns(['src', 'routes', ...globSync('packages/*/src', { cwd: ROOT })])
  expect(patterns.length).toBeGreaterThan(150)
  expect(patterns.some(({ source }) => source.includes('Move disk'))).toBe(true) // those that are put together count too
  const dear = patterns.flatMap((pattern) =>
    describeSuperLinear(pattern).map((why) => `${pattern.file}: /${pattern.source}/${pattern.flags} is ${why}`),
  )
  expect(dear).toEqual([])
})

it('would find one', () => {
  expect(describeSuperLinear({ file: '', source: '^(a+)+$', flags: '' })).not.toEqual([])
  expect(describeSuperLinear({ file: '', source: '\\s*,\\s*$', flags: '' })).not.toEqual([])
})
