import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { openWorld, type World } from '../world.ts'

const run = promisify(execFile)
const FOLDER = import.meta.dirname

let world: World
let url: string
beforeAll(async () => {
  world = await openWorld({ worker: true })
  url = await world.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => world.close())

async function unittest(file: string): Promise<string> {
  const env = {
    ...process.env,
    SERVER_URL: url,
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONWARNINGS: 'error,ignore::ResourceWarning',
  }
  const { stderr } = await run(inject('python'), ['-m', 'unittest', file], { cwd: FOLDER, env }).catch(
    (error: { stderr: string }) => error,
  )
  return stderr
}

// These wait for most of their time, for retries and for held answers, so they run at the same time.
describe.concurrent('the Python client', { timeout: 600_000 }, () => {
  it('items, groups, rewards and runs on a real server', async () => {
    expect(await unittest('client_test')).toMatch(/\nOK/)
  })

  it('meets busy, lost and odd servers', async () => {
    expect(await unittest('wire_test')).toMatch(/\nOK/)
  })

  it('gives shuffled rows the next items of a run', async () => {
    expect(await unittest('rows_test')).toMatch(/\nOK/)
  })

  it('sends metrics to the logger of a trainer', async () => {
    expect(await unittest('metrics_log_test')).toMatch(/\nOK/)
  })

  it('for asyncio does the same', async () => {
    expect(await unittest('async_test')).toMatch(/\nOK/)
  })
})

it('the client tells a resume of the trainer from steps that are left out, and one launch from the next', async () => {
  expect(await unittest('resume_test')).toMatch(/\nOK/)
})

it('each call of the API has a method in the Python clients', async () => {
  expect(await unittest('coverage_test')).toMatch(/\nOK/)
})

it('the client uses the standard library only', async () => {
  const folder = join(FOLDER, '..', '..', 'clients', 'python', 'reasoning_gym_client')
  const program = `import ast, glob, sys
def walk(node):  # not what only type checkers import
    if isinstance(node, ast.If) and getattr(node.test, 'id', '') == 'TYPE_CHECKING': return
    yield node
    for child in ast.iter_child_nodes(node): yield from walk(child)
nodes = [node for path in glob.glob(sys.argv[1] + '/*.py') for node in walk(ast.parse(open(path).read()))]
names = {n.name.split('.')[0] for node in nodes if isinstance(node, ast.Import) for n in node.names}
names |= {node.module.split('.')[0] for node in nodes if isinstance(node, ast.ImportFrom) and node.level == 0}
print(len(nodes) > 1000, sorted(names - sys.stdlib_module_names))`
  const { stdout } = await run(inject('python'), ['-c', program, folder])
  expect(stdout.trim()).toBe("True ['datasets', 'numpy', 'pandas', 'tqdm']")
})

it('the files for trainers import nothing heavy and bear no name of a package', async () => {
  const python = join(FOLDER, '..', '..', 'clients', 'python')
  const program = `import ast, glob, os, sys
for path in [*glob.glob(sys.argv[1] + '/reasoning_gym_client/integrations/*.py'), sys.argv[1] + '/reasoning_gym_remote.py']:
    nodes = [node for node in ast.parse(open(path).read()).body if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = {name.split('.')[0] for node in nodes for name in ([node.module] if isinstance(node, ast.ImportFrom) else [n.name for n in node.names])}
    print(os.path.basename(path), *sorted(names - sys.stdlib_module_names))`
  const { stdout } = await run(inject('python'), ['-c', program, python])
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
  expect(new Set(lines.map(([file]) => file))).toEqual(
    new Set([
      '__init__.py',
      'reasoning_gym_remote.py',
      ...['areal', 'inspect', 'openrlhf', 'skyrl', 'slime', 'swift', 'tinker', 'trl', 'verl'].map(
        (name) => `rg_${name}.py`,
      ),
    ]),
  )
  const heavy = ['torch', 'transformers', 'vllm', 'ray', 'datasets', 'numpy', 'trl', 'verl', 'slime']
  expect(lines.flat().filter((name) => heavy.includes(name))).toEqual([])
})

it('the types of the Python client match the API document', async () => {
  const script = join(import.meta.dirname, '../../scripts/python/generate_types.py')
  await expect(run(inject('python'), [script, '--check'])).resolves.toBeTruthy()
})

it('the client for asyncio is generated from the other one', async () => {
  const script = join(FOLDER, '..', '..', 'scripts', 'python', 'generate_async_client.py')
  await run(inject('python'), [script, '--check'])
})
