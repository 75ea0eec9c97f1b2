import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serve, type RunningServer } from '../src/wiring/serve.ts'

// The transcripts of the README, run as they are printed; only the address is that of the server under test.

interface Step {
  command: string
  output: string
}

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

function stepsOf(markdown: string): Step[] {
  const blocks = [...markdown.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, text]) => text!)
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [command, ...output] = part.split('\n')
        return { command: command!, output: output.join('\n').trim() }
      }),
  )
}

const steps = stepsOf(readme)

/** A pattern for an expected output in which `…` stands for anything on its line. */
const pattern = (output: string): RegExp =>
  new RegExp(
    `^${output
      .split('…')
      .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^\\n]*')}$`,
  )

let server: RunningServer

beforeAll(async () => {
  server = await serve({ ephemeral: true, flags: { port: '0' }, env: {}, log: false })
  await server.local.domain.accounts.create({ username: 'ada', password: 'analytical engine', role: 'admin' })
})

afterAll(() => server.close())

test('the README has transcripts', () => {
  expect(steps.length).toBeGreaterThan(5)
})

test('the transcripts of the README work as printed', async () => {
  const mark = '--8<-- next --8<--'
  const script = steps.map(({ command }) => `${command}\necho; echo '${mark}'`).join('\n')
  const here = script.replaceAll('http://127.0.0.1:8420', server.url)
  const { stdout } = await promisify(execFile)('bash', ['-c', here], { encoding: 'utf8' })
  const outputs = stdout.split(mark).map((text) => text.trim())
  for (const [index, { command, output }] of steps.entries()) {
    expect(outputs[index], command).toMatch(pattern(output))
  }
})
