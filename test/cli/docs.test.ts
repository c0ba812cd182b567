/** docs/reference/cli.md is generated from `--help`. The first run after a change rewrites the page and fails once. */
import { readFileSync, writeFileSync } from 'node:fs'
import { createProgram } from '@reasoning-gym-server/cli/program'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { PROGRAM } from '../../src/main/program.ts'
import { listCommandPages, renderCliReference } from './cli-reference.ts'

const FILE = new URL('../../docs/reference/cli.md', import.meta.url)

const wholeProgram = await createProgram(PROGRAM)

it('the reference is generated from --help', () => {
  const wanted = renderCliReference(wholeProgram)
  const isCurrent = readFileSync(FILE, 'utf8') === wanted
  if (!isCurrent) writeFileSync(FILE, wanted)
  expect(isCurrent, 'docs/reference/cli.md was out of date and has been rewritten: review and commit it').toBe(true)
})

describe('every command', () => {
  const all = listCommandPages(wholeProgram)

  it.each(all.map((page) => [page.path, page] as const))(
    '%s has a description of full sentences, examples and exit codes',
    (_path, { command, text }) => {
      expect(command.description()).toMatch(/^[A-Z].*\.$/)
      expect(text).toContain('Examples:')
      expect(text).toMatch(/^Exit codes:\n {2}0 /m)
      for (const { flags, description } of command.options) expect([flags, description]).not.toContain('')
    },
  )

  const examples = all
    .flatMap(({ text }) => /^Examples:\n((?: {2}.*\n)+)/m.exec(text)?.[1]?.trimEnd().split('\n') ?? [])
    .map((line) => line.trim())

  it.each(examples)('the example is valid: %s', async (line) => {
    const program = await createProgram(PROGRAM)
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

/** The arguments of our command in a shell line: removes quotes, and ignores what comes before and after the command. */
function wordsOf(line: string): string[] {
  const ours =
    line.slice(line.indexOf('reasoning-gym-server ') + 'reasoning-gym-server '.length).split(/ [|>] /)[0] ?? ''
  return [...ours.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  )
}
