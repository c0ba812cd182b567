/** docs/reference/cli.md holds what --help prints: it is made here, and a change shows as a failure once. */
import { readFileSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { buildProgram } from '../../src/cli/program.ts'

const FILE = new URL('../../docs/reference/cli.md', import.meta.url)
const MARK = '<!-- From here on made by test/cli/docs.test.ts from --help. -->\n'

interface Page {
  path: string
  command: Command
  text: string
}

function pages(command: Command, above = ''): Page[] {
  const path = `${above} ${command.name()}`.trim()
  return [{ path, command, text: helpOf(command) }, ...command.commands.flatMap((sub) => pages(sub, path))]
}

/** With the examples, which `helpInformation` leaves out. */
function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({
    writeOut: (some) => {
      text += some
    },
    getOutHelpWidth: () => 100,
    getOutHasColors: () => false,
  })
  command.outputHelp()
  return text.trimEnd()
}

it('the reference is what --help prints', () => {
  const [intro = ''] = readFileSync(FILE, 'utf8').split(MARK)
  const reference = pages(buildProgram()).map(({ path, text }) => `## ${path}\n\n\`\`\`text\n${text}\n\`\`\`\n`)
  const wanted = `${intro}${MARK}\n${reference.join('\n')}`
  const is = readFileSync(FILE, 'utf8')
  if (is !== wanted) writeFileSync(FILE, wanted)
  expect(is === wanted, 'docs/reference/cli.md was written anew: look at the change and commit it').toBe(true)
})

describe('every command', () => {
  const all = pages(buildProgram())

  it.each(all.map((page) => [page.path, page] as const))(
    '%s says what it does, with examples',
    (_path, { command, text }) => {
      expect(command.description()).not.toBe('')
      expect(text).toContain('Examples:')
      for (const { flags, description } of command.options) expect([flags, description]).not.toContain('')
    },
  )

  const examples = all.flatMap(({ text }) => text.split('Examples:\n')[1]?.split('\n') ?? []).map((line) => line.trim())

  it.each(examples)('the example is understood: %s', async (line) => {
    const program = buildProgram()
    let reached = 0
    const stub = (command: Command) => {
      command.configureOutput({ writeOut: () => {} })
      command.action(() => {
        reached++
      })
      command.commands.forEach(stub)
    }
    stub(program)
    const words = wordsOf(line)
    const asksForHelp = words.includes('--help')
    await program.parseAsync(words, { from: 'user' }).catch((error: { code: string }) => {
      if (!asksForHelp || error.code !== 'commander.helpDisplayed') throw error
    })
    expect(reached).toBe(asksForHelp ? 0 : 1)
  })
})

/** The arguments of our command in a line of shell: quotes are read, what stands before and after it is not. */
function wordsOf(line: string): string[] {
  const ours =
    line.slice(line.indexOf('reasoning-gym-server ') + 'reasoning-gym-server '.length).split(/ [|>] /)[0] ?? ''
  return [...ours.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  )
}
