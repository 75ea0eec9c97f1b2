import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { runCommand, startCommand } from '../support/command.ts'
import { serverOfTest } from '../support/server.ts'

const nextLines = async (lines: AsyncIterator<string>, count: number): Promise<string[]> => {
  const read: string[] = []
  while (read.length < count) read.push((await lines.next()).value as string)
  return read
}

test('goes on as entries are written, of the kinds asked for, and ends when interrupted', async () => {
  const server = await serverOfTest()
  const { accounts } = server.local.domain
  for (const username of ['ada', 'bob', 'eve'])
    await accounts.create({ username, password: 'analytical engine', role: 'user' })
  const child = startCommand(server.dataDir, 'audit', '-f', '--kind', 'user.*', '--limit', '2', '--json')
  const ended = new Promise((resolve) => child.once('close', (code) => resolve(code)))
  let complaint = ''
  child.stderr!.on('data', (text: Buffer) => (complaint += text.toString()))
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  try {
    const seen = (entries: string[]) =>
      entries
        .map((line) => JSON.parse(line) as { kind: string; target: string })
        .map(({ kind, target }) => [kind, target])
    expect(seen(await nextLines(lines, 2))).toEqual([
      ['user.created', 'bob'],
      ['user.created', 'eve'],
    ])
    await server.local.domain.instance.maintenance.begin({ message: '', until: null })
    const { id } = await accounts.byName('ada')
    await accounts.disable(id)
    await accounts.remove(id)
    expect(seen(await nextLines(lines, 2))).toEqual([
      ['user.disabled', 'ada'],
      ['user.removed', 'ada'],
    ])
  } finally {
    child.kill('SIGINT')
  }
  expect([await ended, JSON.parse(complaint)]).toMatchObject([130, { code: 'interrupted', exit_code: 130 }])
})

test('shows nothing that could move a terminal’s cursor', async () => {
  const server = await serverOfTest()
  await server.database.write('instance', (tx) =>
    tx.q
      .insertInto('audit')
      .values({
        at: server.clock.now(),
        kind: 'login.failed',
        actor_id: null,
        actor: 'an\u001b[2Jonymous',
        target: null,
        ip: '127.0.0.1\r',
        user_agent: null,
        detail: JSON.stringify({ reason: 'x\u001b]0;y\u0007' }),
      })
      .execute(),
  )
  const { stdout } = await runCommand(server.dataDir, 'audit')
  // oxlint-disable-next-line no-control-regex
  expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
  expect(stdout).toContain('2026-11-21 12:00:00  login.failed')
})
