import { spawnSync } from 'node:child_process'
import { chmod, cp, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { root } from './shape/repository.ts'
import { bytesOf } from './support/contents.ts'
import { done } from './support/outside.ts'
import { recoveryPages, pageText, stepsOf } from './support/pages.ts'
import { folderOfFile, folderOfTest } from './support/server.ts'
import { runShell } from './support/shell.ts'
import { fill, smallDisk } from './support/small-disk.ts'

// Each page of the recovery is run as written, on an installation to which that happened.

const PASSWORD = 'analytical engine'
const CAT = bytesOf(100_000, 1)
const DOG = bytesOf(100_000, 2)

/** The user `svc`: a real one where tests may become another user, who can run svc. */
const OWNER = 65_531
const asOwner = ['setpriv', `--reuid=${OWNER}`, `--regid=${OWNER}`, '--clear-groups']
const isReal =
  process.getuid?.() === 0 &&
  spawnSync(asOwner[0]!, [...asOwner.slice(1), process.execPath, join(root, 'bin/svc.js'), '--version']).status === 0
if (!isReal) console.log('The owner of the data directory is the user of the tests: no other can run svc here.')
const owner = isReal ? OWNER : process.getuid!()

/** The line that the pages ask their reader to enter first. */
const [FIRST = ''] = /^svc\(\) .*$/m.exec(pageText('src/docs/recovery.md')) ?? []

/**
 * Stands for the machine: `sudo` keeps nothing of the environment and answers the question for a passphrase, `systemctl` starts and
 * stops one server, `as` signs in for the commands of users, and `admin` goes on with those of the machine.
 */
const MACHINE = `
sudo() {
  if [ "$1" = -u ]; then
    shift 2
    case " $* " in *" --encrypt "*) set -- "$@" --passphrase-file "$HOME/owner/passphrase";; esac
    ${isReal ? asOwner.join(' ') : ''} env -i PATH="$PATH" HOME="$HOME/owner" LANG="$LANG" "$@"
  elif [ "$1" = install ]; then
    "\${@/#svc/${owner}}"
  else
    "$@"
  fi
}
systemctl() {
  if [ "$1" = stop ] || [ "$1" = disable ]; then
    [ -e "$HOME/owner/ready.json" ] || return 0
    kill "$(ready pid)"
    while [ -e "$HOME/owner/ready.json" ]; do sleep 0.05; done
  else
    sudo -u svc svc serve --data-dir /var/lib/svc --port 0 --ready-file "$HOME/owner/ready.json" > "$HOME/log" 2>&1 &
    while ! [ -e "$HOME/owner/ready.json" ]; do kill -0 $! && sleep 0.05 || return 1; done
  fi
}
ready() { grep -o "$1"'":[^,]*' "$HOME/owner/ready.json" | cut -d: -f2- | tr -d '"'; }
admin() { eval '${FIRST}'; }
as() { export SVC_URL="$(ready url)" SVC_TOKEN="$(admin; svc token mint --user "$1")"; unset -f svc; }
status() { curl -s -o /dev/null -w '%{http_code}\n' "$(ready url)/api/sync/files.php?action=manifest" -H "authorization: Bearer $1"; }
admin
`

const used = await folderOfFile()

beforeAll(async () => {
  const files = (['cat', 'dog'] as const).map((name) => ({ path: `/Photos/${name}.jpg`, from: `${name}.jpg` }))
  await writeFile(join(used, 'cat.jpg'), CAT)
  await writeFile(join(used, 'dog.jpg'), DOG)
  const users = ['ada', 'bob'].map((username) => ({ username, password: PASSWORD, files }))
  await writeFile(
    join(used, 'seed.json'),
    JSON.stringify({
      version: 1,
      users: [...users, { username: 'root', password: PASSWORD }].map((user) => ({ ...user, role: 'admin' })),
    }),
  )
  const data = join(used, 'data')
  await done(data, 'seed', join(used, 'seed.json'))
  await done(data, 'backup', 'schedule', '30 3 * * *', '--to', join(used, 'backups'))
  await done(data, 'backup', 'create')
  await chmod(used, 0o755)
  spawnSync('chown', ['-R', `${owner}`, used])
})

async function machine({ srv }: { srv?: string } = {}) {
  const home = await folderOfTest()
  const prefix = srv ?? join(home, 'lib-')
  await chmod(home, 0o755)
  for (const name of ['owner', 'tmp', 'large']) await mkdir(join(home, name))
  await writeFile(join(home, 'owner/passphrase'), 'correct horse battery staple\n')
  await cp(join(used, 'data'), `${prefix}svc`, { recursive: true })
  await cp(join(used, 'backups'), join(home, 'backups'), { recursive: true })
  const owned = ['owner', 'tmp', 'backups'].map((name) => join(home, name))
  spawnSync('chown', ['-R', `${owner}:${owner}`, `${prefix}svc`, ...owned])
  const localized = (line: string): string =>
    line
      .replaceAll('/mnt/backup/svc', join(home, 'backups'))
      .replaceAll('/mnt/large', join(home, 'large'))
      .replaceAll('/var/tmp', join(home, 'tmp'))
      .replaceAll('/var/lib/', prefix)
  const at = { home, cwd: home, env: {} }
  const run = async (script: string) => {
    const { code, stdout, stderr } = await runShell(localized(MACHINE + script), at)
    expect([script, code, stderr]).toEqual([script, 0, stderr])
    return stdout
  }
  onTestFinished(() => run('systemctl stop svc').then(() => undefined))
  return { home, data: `${prefix}svc`, localized, at, run }
}

type Machine = Awaited<ReturnType<typeof machine>>

/** What printed the command of a page. */
type Outputs = Record<string, string>

interface Day {
  where?: () => Promise<{ srv?: string }>
  /** What happens before the page is opened. */
  happens?: (on: Machine) => Promise<unknown>
  /** Commands before one of the page, which the page leaves to its reader. */
  first?: Record<string, string>
  /** Exit codes that say what happened. */
  ends?: Record<string, number>
  after: (on: Machine, outputs: Outputs) => Promise<unknown>
}

async function expectFiles({ run, home }: Machine, ...users: string[]) {
  for (const user of users) {
    await run(`as ${user}; svc files get /Photos/cat.jpg cat-of-${user}; svc files get /Photos/dog.jpg dog-of-${user}`)
    const found = ['cat', 'dog'].map((name) => readFile(join(home, `${name}-of-${user}`)))
    expect((await Promise.all(found)).map((bytes, index) => bytes.equals([CAT, DOG][index]!))).toEqual([true, true])
  }
}

/** Stands for the newest backup in the pages. */
const ID = '20261126-031500-a1b2'

const days: Record<string, Day> = {
  recovery: {
    happens: ({ home }) => rm(join(home, 'backups'), { recursive: true }),
    after: ({ run }) => run('svc backup verify latest'),
  },
  'disk-died': {
    happens: ({ data }) => rm(data, { recursive: true }),
    after: (on) => expectFiles(on, 'ada', 'bob'),
  },
  'database-damaged': {
    async happens({ data }) {
      const file = await open(join(data, 'svc.db'), 'r+')
      const { size } = await file.stat()
      await file.write(Buffer.alloc(size - 4_096, 0xa5), 0, size - 4_096, 4_096)
      await file.close()
    },
    ends: { 'svc doctor': 1 },
    after: (on) => expectFiles(on, 'ada', 'bob'),
  },
  'locked-out': {
    async happens({ run }) {
      await run('systemctl start svc')
      const wrong = 'echo wrong | svc login "$(ready url)" --username ada --password-stdin || true;'
      await run(wrong.repeat(11))
      const right = `printf '${PASSWORD}' | svc login "$(ready url)" --username ada --password-stdin || echo locked`
      expect(await run(right)).toContain('locked')
    },
    async after({ run }, outputs) {
      const password = /^ {4}(\S+)$/m.exec(outputs['svc user passwd ada --generate']!)![1]!
      await run(`printf '${password}' | svc login "$(ready url)" --username ada --password-stdin`)
      expect(await run('svc user list --role admin')).toContain('rescue')
    },
  },
  'leaked-token': {
    happens: ({ run }) =>
      run('systemctl start svc; svc token mint --user bob > token; [ "$(status "$(cat token)")" = 200 ]'),
    async after({ run }, outputs) {
      expect(await run('status "$(cat token)"')).toBe('401\n')
      expect(outputs['svc device list bob']).toContain('Minted token')
      const old = `printf '${PASSWORD}' | svc login "$(ready url)" --username bob --password-stdin || echo refused`
      expect(await run(old)).toContain('refused')
    },
  },
  ransomware: {
    happens: ({ run }) =>
      run(
        `systemctl start svc; as ada; echo "$SVC_TOKEN" > token; echo encrypted | svc files put - /Photos/cat.jpg
        svc files rm /Photos/dog.jpg --yes`,
      ),
    first: { 'svc versions /Photos/cat.jpg': 'as ada', 'svc backup list --from /mnt/backup/svc': 'admin' },
    async after(on, outputs) {
      expect(await on.run('status "$(cat token)"')).toBe('401\n')
      expect(outputs['svc trash list']).toContain('/Photos/dog.jpg')
      const id = /^ *(\d+)/m.exec(outputs['svc versions /Photos/cat.jpg']!)![1]!
      await on.run(`as ada; svc versions /Photos/cat.jpg --print ${id} > earlier`)
      expect((await readFile(join(on.home, 'earlier'))).equals(CAT)).toBe(true)
      expect(outputs[`svc rewind --user ada --to ${ID} --from /mnt/backup/svc`]).toContain('/Photos/dog.jpg')
      await expectFiles(on, 'ada')
    },
  },
  'wrong-deletion': {
    happens: ({ run }) =>
      run(
        `systemctl start svc; as ada; svc files rm /Photos/dog.jpg --yes; svc trash empty --yes
        svc files rm /Photos/cat.jpg --yes; admin; svc user remove bob --yes`,
      ),
    first: { 'svc trash list': 'as ada', 'svc backup list --from /mnt/backup/svc': 'admin' },
    async after(on) {
      await on.run('as ada; svc files put /var/tmp/recovered/dog.jpg /Photos/')
      await expectFiles(on, 'ada', 'bob')
    },
  },
  'full-disk': {
    async where() {
      const disk = await smallDisk(16 << 20)
      if ('reason' in disk) return {}
      // The owner of the data directory must come to it.
      for (const folder of [dirname(disk.folder), disk.folder]) await chmod(folder, 0o755)
      return { srv: `${disk.folder}/` }
    },
    async happens({ run, data }) {
      await run('systemctl start svc')
      await writeFile(join(data, 'svc.db.before-upgrade'), Buffer.alloc(2 << 20))
      if (!data.endsWith('lib-svc')) await fill(join(data, '..'))
    },
    ends: process.getuid?.() === 0 ? { 'svc doctor': 1 } : {},
    async after({ run }) {
      expect(await run('svc config get quota.default')).toContain('10')
      await run('svc user list --data-dir /mnt/large/svc')
    },
  },
  'moved-server': {
    first: { 'sudo install -d -m 0700 -o svc -g svc /var/lib/svc': 'mv /var/lib/svc /var/lib/svc-old' },
    happens: ({ run }) => run('systemctl start svc; svc token mint --user ada --ttl 1d > token'),
    async after(on) {
      expect(await on.run('status "$(cat token)"')).toBe('200\n')
      expect(await on.run('svc maintenance status --data-dir /var/lib/svc-old || true')).toContain(
        'Moving to another machine.',
      )
    },
  },
}

test.each(recoveryPages)('%s helps on such a day', { timeout: 120_000 }, async (page) => {
  const { where, happens, first = {}, ends = {}, after } = days[page.slice('src/docs/'.length, -'.md'.length)]!
  const on = await machine(await where?.())
  await happens?.(on)
  const steps = stepsOf(pageText(page))
  const mark = '--8<-- next --8<--'
  const lines = steps.map(({ command }) => `${first[command] ?? ':'}\n${command}\necho "$? ${mark}"`)
  const script = lines.join('\n').replaceAll(ID, '"$(ls /mnt/backup/svc/snapshots | tail -n 1 | cut -d . -f 1)"')
  const { stdout, stderr } = await runShell(on.localized(MACHINE + script), on.at)
  const results = stdout.split(`${mark}\n`)
  const outputs: Outputs = {}
  for (const [index, { command }] of steps.entries()) {
    const [, printed, code] = /^([^]*?)(\d+) $/.exec(results[index] ?? '') ?? []
    // 3: done, and something wants attention.
    const good = command in ends ? [ends[command]] : [0, 3]
    expect([command, good.includes(Number(code)), printed, stderr]).toEqual([command, true, printed, stderr])
    outputs[command] = printed!
  }
  await after(on, outputs)
})
