import { execFile } from 'node:child_process'
import { createServer } from 'node:net'
import { chmod, chown, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { DiskFull } from '../../src/base/errors.ts'
import { scopeLauncher } from '../../src/outside/control-group.ts'
import { makeSandbox } from '../../src/outside/sandbox.ts'
import { syscallFilter } from '../../src/outside/syscall-filter.ts'
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

  test('has no file system in memory that is without a size', async () => {
    const { output } = await run('cat /proc/self/mounts; touch /a /dev/a; head -c 5000000 /dev/zero > /dev/shm/a')
    const lines = output.split('\n')
    const unsized = lines.filter((line) => / tmpfs (?!ro)/.test(line) && !/[, ]size=\d+k/.test(line))
    expect(unsized).toEqual([])
    const sizes = [...output.matchAll(/ tmpfs rw\S*size=(\d+)k/g)].map(([, kib]) => Number(kib))
    expect(sizes.length).toBeGreaterThan(0)
    for (const kib of sizes) expect(kib).toBeLessThanOrEqual(65_536)
    expect(output).toContain("cannot touch '/a': Read-only")
    expect(output).toContain("cannot touch '/dev/a': Read-only")
    expect(output).toContain('No space left on device')
  })

  test('ends what forks without end, or writes without end', async () => {
    expect((await run('grep processes /proc/self/limits')).output).toMatch(/ 32 +32 /)
    // Who is refused a process notices it; the others go with the sandbox.
    const forks = await run(
      `perl -e 'for (1..200) { my $p = fork; if (!defined $p) { print "refused after $_\n"; last } if (!$p) { sleep 60; exit } }'`,
    )
    expect(Number(/^refused after (\d+)/.exec(forks.output)?.[1])).toBeLessThanOrEqual(32)
    const bomb = await run('bash -c "f() { f | f & }; f" > /dev/null 2>&1; echo survived')
    expect(bomb.output).toMatch(/survived|[Cc]annot fork|Resource/)
    const writes = await run('head -c 100000000 /dev/zero > /tmp/big; stat -c %s /tmp/big')
    expect(Number(writes.output.trim().split('\n').at(-1))).toBeLessThanOrEqual(33_554_432)
  })

  test('keeps what was said first, and ends what talks without end', async () => {
    const talks = await run('head -c 5000000 /dev/zero | tr "\\0" a')
    expect(talks).toMatchObject({ truncated: true, code: 0 })
    expect(talks.output).toHaveLength(65_536)
    expect(await run('yes')).toMatchObject({ truncated: true, code: null, timedOut: false })
  })

  test('ends processes that use too much memory together, though none of them does', async () => {
    const each = 'my $x = "a" x 120000000; sleep 60; exit'
    const ended = await run(`perl -e 'for (1..8) { if (!fork) { ${each} } } 1 while wait > 0; print "done"'`)
    expect(ended).toMatchObject({ code: null, timedOut: false, output: '' })
    expect(await run(`perl -e 'my $x = "a" x 120000000; print "fine"'`)).toMatchObject({ code: 0, output: 'fine' })
  })

  test('refuses the system calls that no command needs, and every socket that leads outside', async (context) => {
    if (process.arch !== 'x64') return context.skip('the numbers below are those of x86_64')
    const calls = {
      ptrace: 101,
      keyctl: 250,
      io_uring_setup: 425,
      unshare: 272,
      bpf: 321,
      memfd_create: 319,
      shmget: 29,
    }
    const numbers = Object.values({ ...calls, clone3: 435, x32: 0x4000_0000, newer: 600 }).join(',')
    const { output } = await run(
      `perl -MSocket -e 'for (${numbers}) { $! = 0; syscall($_, 0, 0, 0, 0, 0); print $! + 0, " " }
        for (1, 2, 10, 16, 17, 38, 40) { $! = 0; print socket(my $s, $_, SOCK_STREAM, 0) ? "open " : $! + 0, " " }
        print fork ? "" : "child "; print wait > 0 ? "parent" : ""'`,
    )
    const refused = Object.keys(calls).map(() => '1')
    // AF_UNIX; then AF_INET, INET6, NETLINK, PACKET, ALG and VSOCK.
    const sockets = [expect.stringMatching(/open|29/) as string, ...Array<string>(6).fill('97')]
    expect(output.split(/\s+/).slice(0, 17)).toEqual([...refused, '38', '38', '38', ...sockets])
  })

  test('runs behind the server', async () => {
    expect(Number((await run('nice')).output)).toBeGreaterThanOrEqual(10)
  })

  test('is stopped with all it started when its time is over or nobody waits any more', async () => {
    const quick = makeSandbox({ timeoutMs: 300 })
    // Waiting for one of them would take longer than a test may.
    expect(
      await quick.run({
        command: 'echo begun; sleep 300 & sleep 300',
        files: files(),
        signal: new AbortController().signal,
      }),
    ).toMatchObject({ timedOut: true, output: 'begun\n', code: null })
    const gone = new AbortController()
    const waiting = run('sleep 300', {}, gone.signal)
    setTimeout(() => gone.abort(), 200)
    await expect(waiting).rejects.toThrow(/abort/i)
    await expect(run('true', {}, AbortSignal.abort())).rejects.toThrow(/abort/i)
    expect(await run('sleep 300 & echo gone')).toMatchObject({ code: 0, output: 'gone\n' })
  })

  test('is stopped when nobody waits any more before it begins', async () => {
    const gone = new AbortController()
    async function* leaving() {
      yield* files({ 'one.txt': 'one' })
      gone.abort()
    }
    await expect(sandbox.run({ command: 'sleep 60', files: leaving(), signal: gone.signal })).rejects.toThrow(/abort/i)
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
    // Not nobody: Postgres runs as that user in other tests, and the limit of processes is for all of a user.
    const uid = 65_533
    await chown(scratch, uid, uid)
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
    // The service of esbuild lives as long as this process and keeps the umask of the test that started it.
    await chmod(program, 0o644)
    const command =
      'id -u; cat deep/a.txt; echo; touch deep/b 2>&1 || echo kept as it is; echo x > /tmp/x && echo wrote'
    const told = await new Promise<{ stdout: string; stderr: string; error: Error | null }>((resolve) => {
      const asOrdinary = { uid, gid: uid, cwd: '/', env: { TMPDIR: scratch }, timeout: 120_000 }
      execFile(process.execPath, [program, command], asOrdinary, (error, stdout, stderr) =>
        resolve({ error, stdout, stderr }),
      )
    })
    if ((told.error as NodeJS.ErrnoException | null)?.code === 'EACCES')
      return context.skip('an ordinary user may not start this Node.js')
    expect(told).toMatchObject({ error: null, stderr: '' })
    expect(JSON.parse(told.stdout)).toEqual({
      user: uid,
      ran: {
        code: 0,
        output: expect.stringMatching(/^65534\nkept\n[^]*Read-only file system\nkept as it is\nwrote\n$/) as string,
        timedOut: false,
        truncated: false,
      },
      left: [],
    })
  })
})

test(
  'what left the process group before its life was tied to its parent ends with it',
  { timeout: 20_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bwrap-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await chmod(folder, 0o755)
    const bwrap = join(folder, 'bwrap')
    await writeFile(bwrap, '#!/bin/sh\n/usr/bin/setsid /usr/bin/sleep 60 &\nwait\n', { mode: 0o755 })
    const job = { command: 'true', files: files(), signal: new AbortController().signal }
    // It holds the output, so that this waits for its end.
    if (process.platform === 'linux')
      expect(await makeSandbox({ bwrap, timeoutMs: 1_000 }).run(job)).toMatchObject({ timedOut: true })
  },
)

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

test('on a processor whose system calls are not known nothing is run, and the reason is said', async () => {
  const strange = makeSandbox({ arch: 'riscv64' })
  if (process.platform === 'linux') expect(await strange.probe()).toContain('this processor are not known')
  await expect(strange.run({ command: 'true', files: files(), signal: new AbortController().signal })).rejects.toThrow(
    'not known',
  )
})

describe('the filter of system calls', () => {
  /** What the kernel would do with a call: runs the program as bpf(4) says. */
  function judge(program: Uint8Array, data: { arch: number; nr: number; args?: number[] }): number {
    const view = new DataView(program.buffer)
    const words: Record<number, number> = { 0: data.nr, 4: data.arch }
    for (const [index, value] of (data.args ?? []).entries()) words[16 + 8 * index] = value
    let loaded = 0
    for (let at = 0; ; at++) {
      const value = view.getUint32(at * 8 + 4, true)
      const code = view.getUint16(at * 8, true)
      if (code === 0x06) return value
      if (code === 0x20) loaded = words[value] ?? 0
      else {
        const holds = code === 0x15 ? loaded === value : code === 0x25 ? loaded > value : (loaded & value) !== 0
        at += view.getUint8(at * 8 + (holds ? 2 : 3))
      }
    }
  }
  const [allow, kill, error] = [0x7fff0000, 0x80000000, 0x00050000]

  test.each([
    ['x64', 0xc000003e, { read: 0, ptrace: 101, clone: 56, clone3: 435, socket: 41, socketpair: 53, ioctl: 16 }],
    ['arm64', 0xc00000b7, { read: 63, ptrace: 117, clone: 220, clone3: 435, socket: 198, socketpair: 199, ioctl: 29 }],
  ])('of %s allows, refuses and denies by numbers and arguments', (name, arch, nr) => {
    const program = syscallFilter(name)!
    const of = (number: number, ...args: number[]) => judge(program, { arch, nr: number, args })
    expect(judge(program, { arch: arch ^ 1, nr: nr.read })).toBe(kill)
    expect([of(nr.read), of(nr.ptrace), of(nr.clone3), of(463), of(0x4000_0000)]).toEqual([
      allow,
      error | 1,
      error | 38,
      error | 38,
      error | 38,
    ])
    // SIGCHLD alone, a thread, a user namespace, a network namespace.
    expect([17, 0x3d0f00, 0x10000011, 0x40000011].map((flags) => of(nr.clone, flags))).toEqual([
      allow,
      allow,
      error | 1,
      error | 1,
    ])
    for (const call of [nr.socket, nr.socketpair])
      expect([1, 2, 40].map((family) => of(call, family))).toEqual([allow, error | 97, error | 97])
    expect([0x5401, 0x5412, 0x541c].map((request) => of(nr.ioctl, 0, request))).toEqual([allow, error | 1, error | 1])
  })
})

describe('a control group of systemd', () => {
  test('is asked for where a service manager of the user runs, and keeps the bounds of all processes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-test-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const limits = { memory: 1_000, tasks: 5 }
    expect(scopeLauncher(limits, undefined, {})).toBeUndefined()
    expect(scopeLauncher(limits, undefined, { XDG_RUNTIME_DIR: folder })).toBeUndefined()
    await mkdir(join(folder, 'systemd'))
    await writeFile(join(folder, 'systemd', 'private'), '')
    const found = scopeLauncher(limits, undefined, { XDG_RUNTIME_DIR: folder, SECRET: 'x' })
    expect(found).toMatchObject({ env: { XDG_RUNTIME_DIR: folder }, changesUser: false })
    const line = found!.before.join(' ')
    expect(line).toMatch(
      /^\/usr\/bin\/systemd-run --user --scope .*MemoryMax=1000 .*TasksMax=5 .*-- \/usr\/bin\/env -i$/,
    )
  })
})
