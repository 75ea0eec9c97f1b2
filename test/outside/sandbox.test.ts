import { execFile } from 'node:child_process'
import { createServer } from 'node:net'
import { chmod, chown, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { DiskFull } from '../../src/base/trouble.ts'
import { makeSandbox } from '../../src/outside/sandbox.ts'
import { fill, smallDisk } from '../support/small-disk.ts'

const sandbox = makeSandbox()
const reason = await sandbox.probe()
if (reason !== undefined) console.log(`Tests of the sandbox are skipped: ${reason}`)

async function* files(contents: Record<string, string> = {}) {
  for (const [path, text] of Object.entries(contents)) yield await Promise.resolve({ path, content: Buffer.from(text) })
}

const run = (command: string, contents: Record<string, string> = {}, signal = new AbortController().signal) =>
  sandbox.run({ command, files: files(contents), signal })

const leftovers = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('svc-sandbox-'))

describe.skipIf(reason !== undefined)('the sandbox', () => {
  beforeAll(() => void vi.stubEnv('SVC_TEST_SECRET', 'hunter2-in-the-environment'))

  test('runs a command on the files it is given', async () => {
    const contents = { 'a.txt': 'one\ntwo\n', 'deep/er/ü b.txt': 'three\n' }
    expect(await run('cat a.txt deep/er/*.txt | sort -r', contents)).toEqual({
      code: 0,
      output: 'two\nthree\none\n',
      timedOut: false,
      truncated: false,
    })
    expect((await run('echo out; echo err >&2; exit 3')).output).toMatch(/out\n|err\n/)
    expect((await run('exit 3')).code).toBe(3)
  })

  test('shows nothing of the machine, its environment or its arguments', async () => {
    const { output } = await run(
      'id -u; ls / /etc /root /var; env; cat /proc/*/environ | tr "\\0" "\\n"; cat /etc/passwd; ls /proc | grep -c "^[0-9]"; tr "\\0" " " < /proc/1/cmdline',
      { 'mine.txt': 'x' },
    )
    expect(output).not.toContain('hunter2')
    expect(output).not.toContain('root:')
    expect(output).toMatch(/^65534\n/)
    expect(output).not.toContain('cat /proc')
    expect(output).toContain("cannot access '/root'")
  })

  test('changes nothing of what it is given and leaves nothing behind', async () => {
    const before = await leftovers()
    const { output } = await run(
      'echo x > a.txt; rm -f a.txt; touch /home/b; touch /usr/b; touch /b; touch /tmp/fine && echo wrote; cat a.txt',
      {
        'a.txt': 'kept',
      },
    )
    expect(output).toContain('Read-only file system')
    expect(output.trimEnd()).toMatch(/wrote\nkept$/)
    expect(await leftovers()).toEqual(before)
  })

  test('reaches no network, not even this machine', async () => {
    let connections = 0
    const server = createServer(() => (connections += 1))
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const { output } = await run(`bash -c 'echo hi > /dev/tcp/127.0.0.1/${port}' 2>&1 || echo refused`)
    await new Promise((done) => server.close(done))
    expect(output).toContain('refused')
    expect(connections).toBe(0)
  })

  test('makes no namespaces and gets no rights', async () => {
    const { output } = await run(
      'unshare -U true 2>&1 || echo no; grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status',
    )
    expect(output).toMatch(/no\nCapEff:\s+0000000000000000\nNoNewPrivs:\s+1/)
  })

  test('ends what forks without end, writes without end, or talks without end', async () => {
    const forks = await run('bash -c "f() { f | f & }; f" 2>&1; sleep 0.2; echo survived')
    expect(forks.output).toMatch(/survived|[Cc]annot fork|Resource/)
    const writes = await run('head -c 100000000 /dev/zero > /tmp/big; stat -c %s /tmp/big')
    expect(Number(writes.output.trim().split('\n').at(-1))).toBeLessThanOrEqual(33_554_432)
    const talks = await run('head -c 5000000 /dev/zero | tr "\\0" a')
    expect(talks).toMatchObject({ truncated: true, code: 0 })
    expect(talks.output).toHaveLength(65_536)
  })

  test('is stopped with all it started when its time is over or nobody waits any more', async () => {
    const quick = makeSandbox({ timeoutMs: 300 })
    const begun = performance.now()
    expect(
      await quick.run({
        command: 'echo begun; sleep 60 & sleep 60',
        files: files(),
        signal: new AbortController().signal,
      }),
    ).toMatchObject({ timedOut: true, output: 'begun\n', code: null })
    const gone = new AbortController()
    const waiting = run('sleep 60', {}, gone.signal)
    setTimeout(() => gone.abort(), 200)
    await expect(waiting).rejects.toThrow(/abort/i)
    await expect(run('true', {}, AbortSignal.abort())).rejects.toThrow(/abort/i)
    expect(performance.now() - begun).toBeLessThan(10_000)
    expect(await run('sleep 300 & echo gone')).toMatchObject({ code: 0, output: 'gone\n' })
  })

  test('takes no file that stands outside', async () => {
    await expect(run('true', { '../evil': 'x' })).rejects.toThrow('outside')
    await expect(run('true', { '/etc/evil': 'x' })).rejects.toThrow('outside')
  })
})

describe.skipIf(reason !== undefined)('the sandbox on a disk', () => {
  test('that is full runs nothing, says so, and leaves nothing behind', async (context) => {
    const made = await smallDisk(4 << 20)
    if ('reason' in made) return context.skip(made.reason)
    // The user the sandbox is started as must come to it.
    for (const folder of [dirname(made.folder), made.folder]) await chmod(folder, 0o711)
    vi.stubEnv('TMPDIR', made.folder)
    onTestFinished(() => void vi.unstubAllEnvs())
    const contents = { 'deep/large.txt': 'x'.repeat(100_000) }
    const makeRoom = await fill(made.folder)
    await expect(run('cat deep/large.txt', contents)).rejects.toBeInstanceOf(DiskFull)
    expect(await readdir(made.folder)).toEqual(['filler'])
    await makeRoom()
    expect(await run('wc -c < deep/large.txt', contents)).toMatchObject({ code: 0, output: '100000\n' })
    expect(await readdir(made.folder)).toEqual([])
  })

  test('of its own is full before that of the machine is', async () => {
    const { output } = await run(
      'for n in 1 2 3 4; do head -c 30000000 /dev/zero > /tmp/$n || echo full; done; du -m -s /tmp | cut -f 1',
    )
    expect(output).toMatch(/No space left on device/)
    expect(output).toContain('full\n')
    expect(Number(output.trim().split('\n').at(-1))).toBeLessThanOrEqual(64)
  })
})

describe.skipIf(reason !== undefined)('the sandbox of a server', () => {
  test('that an ordinary user runs is the same', async (context) => {
    if (process.getuid?.() !== 0) return context.skip('all tests of the sandbox run as an ordinary user')
    const folder = await mkdtemp(join(tmpdir(), 'svc-test-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const scratch = join(folder, 'scratch')
    await mkdir(scratch)
    await chown(scratch, 65_534, 65_534)
    await chmod(folder, 0o755)
    const program = join(folder, 'program.mjs')
    await build({
      entryPoints: [fileURLToPath(new URL('../support/sandbox-program.ts', import.meta.url))],
      outfile: program,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      logLevel: 'warning',
    })
    const command =
      'id -u; cat deep/a.txt; echo; touch deep/b 2>&1 || echo kept as it is; echo x > /tmp/x && echo wrote'
    const told = await new Promise<{ stdout: string; stderr: string; error: Error | null }>((resolve) => {
      const asNobody = { uid: 65_534, gid: 65_534, cwd: '/', env: { TMPDIR: scratch }, timeout: 90_000 }
      execFile(process.execPath, [program, command], asNobody, (error, stdout, stderr) =>
        resolve({ error, stdout, stderr }),
      )
    })
    if ((told.error as NodeJS.ErrnoException | null)?.code === 'EACCES')
      return context.skip('nobody may not start this Node.js')
    expect(told).toMatchObject({ error: null, stderr: '' })
    expect(JSON.parse(told.stdout)).toEqual({
      user: 65_534,
      ran: {
        code: 0,
        output: expect.stringMatching(/^65534\nkept\n[^]*Read-only file system\nkept as it is\nwrote\n$/) as string,
        timedOut: false,
        truncated: false,
      },
      left: [],
    })
  }, 120_000)
})

test('without bubblewrap nothing is run, and the reason is said', async () => {
  const none = makeSandbox({ bwrap: '/usr/bin/no-such-bwrap' })
  expect(await none.probe()).toBe(
    process.platform === 'linux'
      ? '/usr/bin/no-such-bwrap is missing: install bubblewrap.'
      : 'Only Linux has what the sandbox is made of.',
  )
  await expect(none.run({ command: 'true', files: files(), signal: new AbortController().signal })).rejects.toThrow(
    'ENOENT',
  )
})
