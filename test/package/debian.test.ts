import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, expect, test } from 'vitest'
import { root } from './npm.ts'

// The Debian package, installed by dpkg into a root of its own. The scripts run outside of it (DPKG_ROOT), because it has no shell.

const has = (program: string): boolean =>
  ['/usr/bin', '/usr/sbin', '/bin'].some((folder) => existsSync(join(folder, program)))
const isPossible =
  process.getuid?.() === 0 && ['dpkg', 'dpkg-deb', 'systemd-sysusers', 'systemd-tmpfiles'].every((name) => has(name))

const dir = mkdtempSync(join(tmpdir(), 'svc-debian-'))
const place = join(dir, 'root')
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const dpkg = (...words: string[]): string =>
  execFileSync('dpkg', [`--root=${place}`, '--force-script-chrootless', '--force-depends', ...words], {
    encoding: 'utf8',
    stdio: 'pipe',
  })

test.runIf(isPossible)(
  'the Debian package is installed, serves, is upgraded, removed and purged',
  { timeout: 120_000 },
  async () => {
    for (const folder of ['var/lib/dpkg', 'etc']) mkdirSync(join(place, folder), { recursive: true })
    writeFileSync(join(place, 'var/lib/dpkg/status'), '')
    const build = execFileSync(process.execPath, [join(root, 'bin/deb.js'), dir], { encoding: 'utf8' })
    const file = build.trim()
    const [command, data, settings] = ['usr/bin/svc', 'var/lib/svc', 'etc/svc/svc.env'].map((path) =>
      join(place, path),
    ) as [string, string, string]

    expect(dpkg('-i', file)).toContain('sudo -u svc svc user add NAME --role admin --data-dir /var/lib/svc')
    const [, , uid, , , home] = /^svc:.*$/m.exec(readFileSync(join(place, 'etc/passwd'), 'utf8'))![0].split(':')
    expect([statSync(data).uid, statSync(data).mode & 0o777, home]).toEqual([Number(uid), 0o700, '/var/lib/svc'])
    expect([statSync(settings).uid, statSync(settings).mode & 0o777]).toEqual([0, 0o600])
    const unit = readFileSync(join(place, 'usr/lib/systemd/system/svc.service'), 'utf8')
    expect(unit).toContain('\nUser=svc\nGroup=svc\nEnvironmentFile=-/etc/svc/svc.env\n')
    expect(unit).toContain('\nExecStart=/usr/bin/svc serve --existing --data-dir /var/lib/svc\n')
    expect(unit).not.toContain('{{')

    // The system has no such user: the test is the owner.
    const own = () => execFileSync('chown', ['-R', '0:0', data])
    own()
    const env = { PATH: process.env['PATH'], HOME: dir, SVC_PORT: '0' }
    const added = { env, input: 'analytical engine\n', encoding: 'utf8' } as const
    const words = ['user', 'add', 'ada', '--role', 'admin', '--password-stdin', '--data-dir', data]
    // A data directory is made by the first of these commands.
    expect(execFileSync(command, words, added)).toBe('Added ada as an administrator.\n')
    const server = spawn(command, ['serve', '--existing', '--data-dir', data], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const ended = once(server, 'exit')
    const [ready] = (await once(createInterface(server.stdout), 'line')) as [string]
    expect((await fetch(`${ready.replace('svc is ready at ', '')}/readyz`)).status).toBe(200)
    server.kill('SIGTERM')
    expect(await ended).toEqual([0, null])

    // The passwords in it become secret, and the group that an operator gave it stays.
    appendFileSync(settings, 'SVC_PORT=9000\n')
    chmodSync(settings, 0o644)
    expect(dpkg('-i', file)).not.toContain('Next:')
    expect(readFileSync(settings, 'utf8')).toContain('SVC_PORT=9000')
    expect(statSync(settings).mode & 0o777).toBe(0o640)
    expect(statSync(data).uid).toBe(Number(uid))
    own()
    expect(execFileSync(command, ['user', 'list', '--json', '--data-dir', data], { env, encoding: 'utf8' })).toContain(
      'ada',
    )

    dpkg('--remove', 'svc')
    expect([existsSync(command), existsSync(settings), existsSync(join(data, 'svc.db'))]).toEqual([false, true, true])
    expect(dpkg('--purge', 'svc')).toContain('The data of svc stays in /var/lib/svc')
    expect([existsSync(settings), existsSync(join(data, 'svc.db'))]).toEqual([false, true])
  },
)
