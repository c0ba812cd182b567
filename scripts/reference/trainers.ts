/** The table of docs/guides/trainers.md that says which release of each trainer was proven when. `--record` writes the dates. */
import { describePackages, readFamilies } from '../../verification/trainers/versions.ts'

const START = '<!-- proven: written from verification/trainers/versions.json -->\n'
const END = '<!-- end of proven -->'

/** The guide with the table of today. */
export function updateProvenTable(guide: string): string {
  const [before, after] = [guide.indexOf(START), guide.indexOf(END)]
  if (before < 0 || after < before) throw new Error('docs/guides/trainers.md has lost the marks of its table')
  return `${guide.slice(0, before + START.length)}\n${formatProvenTable()}\n${guide.slice(after)}`
}

function formatProvenTable(): string {
  const rows = readFamilies().map((family) => {
    const { trainer, name, proven, quick } = family
    const [date, checks] = proven ? [proven.on, String(proven.checks)] : ['not yet', '']
    return `| ${trainer} | \`${name}\` | ${describePackages(family)} | ${date} | ${checks} | ${quick ? 'in CI' : 'weekly'} |`
  })
  return ['| trainer | family | packages | proven on | checks | |', '|---|---|---|---|---|---|', ...rows, ''].join('\n')
}
