/** The laws of style that a machine can read; CONTRIBUTING.md says what they are for. */
import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { ERROR_CODES } from '@reasoning-gym-server/contract/errors'
import { type Expression, type Node, parse, type SpreadElement } from 'acorn'
import { fullAncestor, simple } from 'acorn-walk'
import { expect, it } from 'vitest'

const MAX_FILE_LINES = 480
const MAX_FUNCTION_LINES = 70

const read = (pattern: string | string[]) =>
  globSync(pattern, { exclude: ['**/node_modules/**', '**/dist/**', '**/assembly/**'] }).map((path) => ({
    path,
    text: readFileSync(path, 'utf8'),
  }))
const SOURCES = read('{src,routes,packages/*/src,bench,scripts,verification}/**/*.{ts,js,py,lua}')
const TESTS = read('{test,packages/*/test}/**/*.{ts,py}')
const PAGES = read(['*.md', 'docs/**/*.md', '{clients,deploy,examples,packages}/**/*.{md,yml,yaml,py}'])

it(`files have at most ${MAX_FILE_LINES} lines`, () => {
  const long = [...SOURCES, ...TESTS].filter(
    ({ path, text }) => !isGenerated(path) && countLines(text) > MAX_FILE_LINES,
  )
  expect(long.map(({ path, text }) => `${path}: ${countLines(text)}`)).toEqual([])
})

it(`functions have at most ${MAX_FUNCTION_LINES} lines`, () => {
  const programs = SOURCES.filter(({ path, text }) => /\.[tj]s$/.test(path) && countLines(text) > MAX_FUNCTION_LINES)
  const long = programs.flatMap(({ path, text }) =>
    listFunctions(text)
      .filter(({ lines }) => lines > MAX_FUNCTION_LINES)
      .map(({ line, lines }) => `${path}:${line}: ${lines}`),
  )
  expect(long).toEqual([])
})

/** Non-blank lines of code, and of `docs` words. Only a commit "Raise the budget of …" changes one, and says what went for it. */
const BUDGETS: readonly [place: string, pattern: string, most: number][] = [
  ['the server', '{src,routes}/**/*.{ts,js,py,lua}', 46500],
  ['the server and its packages', '{src,routes,packages/*/src}/**/*.{ts,js,py,lua,css,html}', 75_500],
  ['src/features/runs', 'src/features/runs/**/*.{ts,lua}', 9200],
  ['Lua', 'src/**/*.lua', 3590],
  ['packages/cli', 'packages/cli/src/**/*.ts', 3300],
  ['packages/codec', 'packages/codec/src/**/*.ts', 385],
  ['packages/contract', 'packages/contract/src/**/*.ts', 4000],
  ['packages/dashboard', 'packages/dashboard/src/**/*.{js,css,html}', 7600],
  ['packages/mock-model', 'packages/mock-model/src/**/*.ts', 740],
  ['packages/scorers', 'packages/scorers/src/**/*.ts', 11000],
  ['packages/task-tools', 'packages/task-tools/src/**/*.ts', 2025],
  ['the Python client', 'clients/python/**/*.py', 5780],
  ['docs', 'docs/**/*.md', 60_000],
]
it.each(BUDGETS)('%s is within its budget', (place, pattern, most) => {
  const texts = read(pattern).filter(({ path }) => !isGenerated(path) && !path.includes('/test/'))
  const count = texts.reduce((sum, { text }) => sum + (place === 'docs' ? countWords(text) : countNonBlank(text)), 0)
  expect(count, `${place}: ${count} of ${most}`).toBeLessThanOrEqual(most)
})

it('the server has at most 430 files, and its API document 76 operations', () => {
  expect(globSync('{src,routes}/**/*.{ts,js,py,lua}').length).toBeLessThanOrEqual(430)
  const { paths } = JSON.parse(readFileSync('openapi/openapi.json', 'utf8')) as { paths: Record<string, object> }
  const methods = Object.values(paths)
    .flatMap((path) => Object.keys(path))
    .filter((key) => /^(get|put|post|patch|delete)$/.test(key))
  expect(methods.length).toBeLessThanOrEqual(76)
})

it('files begin with a sentence that says what they are', () => {
  const HEADER = { ts: /^(?:#!.*\n)?\/\*\*[\s*]*\S/, py: /^(?:#!.*\n)?(?:#.*\n)*r?"""\S/, lua: /^--+ ?\S/ }
  const bare = SOURCES.filter(({ path, text }) => {
    const header = HEADER[path.split('.').at(-1)?.replace('js', 'ts') as keyof typeof HEADER]
    return !isVendored(path) && !header.test(text)
  })
  expect(bare.map(({ path }) => path)).toEqual([])
})

it('files that comments name exist', () => {
  const COMMENT = /(?<=^\s*(?:\/\*\*|\*|\/\/|#|--) |\s(?:\/\/|#|--) ).*$/gm
  const FILE = /(?<![\w./*<{$-])(?:[\w@-]+\/)*[a-z][\w-]*(?:\.[\w-]+)*\.(?:ts|js|py|lua|md)\b/g
  /** Of libraries, or written by programs. */
  const FOREIGN = /^(?:reasoning_gym|nemo_gym|artifacts)\/|\b[A-Z]+\.|^(?:decimal|fraction|ipaddr)\.js$/
  const OWN = globSync(
    '{bench,bin,clients,deploy,docs,examples,packages,routes,scripts,src,test,verification}/**/*.*',
    {
      exclude: ['**/node_modules/**'],
    },
  ).map((path) => `/${path}`)
  const missing = [...SOURCES, ...TESTS].flatMap(({ path, text }) => {
    const named = [...text.matchAll(COMMENT)].flatMap(([comment]) => comment.match(FILE) ?? [])
    const unknown = named.filter((name) => !FOREIGN.test(name) && !OWN.some((own) => own.endsWith(`/${name}`)))
    return unknown.map((name) => `${path}: ${name}`)
  })
  expect(missing).toEqual([])
})

it('comments have one mark', () => {
  const DOUBLED = /^\s*(?:\/\/\s*\/\/|\/\*\* *\*|#\s+#\s|--\s+--\s)/m
  expect([...SOURCES, ...TESTS].filter(({ text }) => DOUBLED.test(text)).map(({ path }) => path)).toEqual([])
})

it('scripts add no negated number, which Redis rejects as -0', () => {
  const scripts = read('src/**/*.lua').filter(({ text }) => /HINCRBY'.*, ?-[a-z(]/.test(text))
  expect(scripts.map(({ path }) => path)).toEqual([])
})

it('no file knows the machine of its author', () => {
  const MACHINE = /(?<![\w.])\/(?:home|Users|root|work)\/\w/
  const found = [...SOURCES, ...TESTS, ...PAGES].filter(({ text }) => MACHINE.test(text))
  expect(found.map(({ path, text }) => `${path}: ${MACHINE.exec(text)?.[0]}`)).toEqual([])
})

it('no constant stands in for a missing reward', () => {
  const files = read(['clients/python/reasoning_gym_client/**/*.py', 'src/features/adapters/**/*.ts'])
  const CONSTANT = /(?:reward|substitute)\w*(?:["']\]|["']\)|\.get\([^)]*\))?\)? *(?:or|\?\?) 0/
  const lines = files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .filter((line) => CONSTANT.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  )
  expect(lines).toEqual([])
})

it('every error code is documented, and some test provokes it', () => {
  const troubleshooting = readFileSync('docs/reference/errors.md', 'utf8')
  const tests = TESTS.map(({ text }) => text).join('\n')
  const names = (text: string, code: string) => new RegExp(`\\b${code}\\b`).test(text)
  expect(ERROR_CODES.filter((code) => !names(troubleshooting, code))).toEqual([])
  expect(ERROR_CODES.filter((code) => !new RegExp(`['"/]${code}['"]`).test(tests))).toEqual([])
})

it('details of problems say what is wrong, then what to do', () => {
  const NO_REMEDY = ['internal', 'request_timeout'] // of the server, or for a client that has left
  const bad = listPrograms().flatMap(({ path, program }) => {
    const found: string[] = []
    simple(program, {
      NewExpression({ callee, arguments: [code, detail] }) {
        if (callee.type !== 'Identifier' || callee.name !== 'ServiceError' || !detail) return
        for (const text of listTexts(detail)) {
          const isSentence = /^["`A-Z…].*[.?!…]$/s.test(text)
          const hasRemedy = /[.?!] \S/.test(text) || text.endsWith('…')
          const needsNone = code?.type === 'Literal' && NO_REMEDY.includes(String(code.value))
          if (!isSentence || !(hasRemedy || needsNone)) found.push(`${path}: ${text}`)
        }
      },
    })
    return found
  })
  expect(bad).toEqual([])
})

it('fields of log lines are in snake case', () => {
  const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']
  const bad = listPrograms().flatMap(({ path, program }) => {
    const found: string[] = []
    simple(program, {
      CallExpression({ callee, arguments: [fields] }) {
        if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return
        if (!LEVELS.includes(callee.property.name) || fields?.type !== 'ObjectExpression') return
        for (const field of fields.properties)
          if (field.type === 'Property' && field.key.type === 'Identifier' && /[A-Z]/.test(field.key.name))
            found.push(`${path}: ${field.key.name}`)
      },
    })
    return found
  })
  expect(bad).toEqual([])
})

/** The programs of the server and the packages. */
function listPrograms(): { path: string; program: Node }[] {
  return SOURCES.filter(({ path }) => /^(?:src|routes|packages\/\w+\/src)\/.*\.ts$/.test(path)).map(
    ({ path, text }) => ({
      path,
      program: parse(stripTypeScriptTypes(text), { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true }),
    }),
  )
}

/** The texts that an expression may give, with `…` for each value in a template; none for any other expression. */
function listTexts(node: Expression | SpreadElement): string[] {
  if (node.type === 'Literal') return [String(node.value)]
  if (node.type === 'ConditionalExpression') return [...listTexts(node.consequent), ...listTexts(node.alternate)]
  if (node.type !== 'TemplateLiteral') return []
  return [node.quasis.map(({ value }) => value.cooked).join('…')]
}

function isVendored(path: string): boolean {
  return path.includes('/vendor/')
}

function isGenerated(path: string): boolean {
  return path.endsWith('/types.py')
}

function countNonBlank(text: string): number {
  return text.split('\n').filter((line) => line.trim() !== '').length
}

function countWords(text: string): number {
  return text.split(/\s+/).filter(Boolean).length
}

function countLines(text: string): number {
  return text.split('\n').length - 1
}

/** Lines of its statements, without functions and objects inside: a plugin that declares ten routes is not long because of them. */
function listFunctions(text: string): { line: number; lines: number }[] {
  const program = parse(stripTypeScriptTypes(text, { mode: 'strip' }), {
    ecmaVersion: 'latest',
    sourceType: 'module',
    locations: true,
    allowHashBang: true,
  })
  const own = new Map<Node, number>()
  const hasOwnLines = ({ type }: Node) => type.includes('Function') || type === 'ObjectExpression'
  fullAncestor(program, (node, _state, ancestors) => {
    if (!hasOwnLines(node) || !node.loc) return
    const lines = node.loc.end.line - node.loc.start.line
    own.set(node, (own.get(node) ?? 0) + lines + 1)
    const outer = ancestors.slice(0, -1).findLast(hasOwnLines)
    if (outer) own.set(outer, (own.get(outer) ?? 0) - lines)
  })
  return [...own]
    .filter(([node]) => node.type !== 'ObjectExpression')
    .map(([node, lines]) => ({ line: node.loc?.start.line ?? 0, lines }))
}
