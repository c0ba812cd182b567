/**
 * Writes docs/reference/trainers.md: how to set up each trainer, and which release of each was proven when. A test rewrites it, and so does `npm run trainers -- --record`.
 */
import { describePackages, readFamilies } from '../../verification/trainers/versions.ts'
import { ADAPTER_TEXTS, type AdapterText } from './adapter-texts.ts'

/** What the guide shows once, under *Before you start*. */
const COMMON_SNIPPET = 'Install the client, and configure the run once'
/** Data sets have a guide of their own. */
const NOT_TRAINERS: readonly string[] = ['dataset']

const HEAD = `# Snippets for trainers

This page shows, for each trainer, what to paste into its configuration and what the trainer gets for completions without a score. First
[start a server and configure a run](../guides/trainers.md#before-you-start). Replace \`API_KEY\` and \`RUN\`. The page is
written from \`src/features/adapters/texts\`.
`

const TESTED = `## Tested versions

\`npm run trainers -- FAMILY\` runs the real client code of a trainer against a real server; \`--newest\` uses its newest release
instead of the one in the table. The last column says where it runs. TRL, verl, slime, NeMo Gym
and Tinker also run for pull requests that change what trainers use.
`

export function buildTrainersPage(): string {
  const sections = ADAPTER_TEXTS.filter(({ name }) => !NOT_TRAINERS.includes(name))
  return [HEAD, ...sections.map(formatSection), TESTED, formatProvenTable()].join('\n')
}

function formatSection({ heading, summary, unscored, snippets, notes }: AdapterText): string {
  const own = snippets.filter(({ title }) => title !== COMMON_SNIPPET)
  const blocks = own.map(({ title, language, code }) => `${title}:\n\n\`\`\`${language}\n${code}\n\`\`\``)
  const more = notes === '' ? [] : [linkFromPage(notes)]
  return `${[`## ${heading}`, summary, ...blocks, `**Unscored:** ${unscored}`, ...more].join('\n\n')}\n`
}

/** The links of a text start from its own folder. */
function linkFromPage(notes: string): string {
  return notes.replaceAll('../../../../docs/', '../').replaceAll('../../../../', '../../')
}

function formatProvenTable(): string {
  const rows = readFamilies().map((family) => {
    const { trainer, name, proven, quick } = family
    return `| ${trainer} | \`${name}\` | ${describePackages(family)} | ${proven ?? 'not yet'} | ${quick ? 'in CI' : 'weekly'} |`
  })
  return ['| trainer | family | packages | proven on | |', '|---|---|---|---|---|', ...rows, ''].join('\n')
}
