import { join } from 'node:path'
import { readRepository, repositoryAt } from '../../src/storage/backups/repository.ts'
import { backupTarget } from '../../src/wiring/backups/backup-locations.ts'
import { openLocal } from '../../src/wiring/local-domain.ts'
import { restore } from '../../src/wiring/backups/restore.ts'
import { serve } from '../../src/wiring/server.ts'

// A program for tests that need another process. It prints `ready …`, and ends when its input ends:
//
//   serve FOLDER, open FOLDER    with FOLDER as data directory
//   backup FOLDER                backs up FOLDER/data to FOLDER/repo repeatedly, until it is killed
//   archive FOLDER               the same to archives FOLDER/1.tar, FOLDER/2.tar, …
//   restore FOLDER               restores the newest backup of FOLDER/repo to FOLDER/new

const [what, folder] = process.argv.slice(2) as [string, string]
const env = { SVC_LIMITS: 'off', SVC_PORT: '0' }
const ready = (url = '') => process.stdout.write(`ready ${url}\n`)

async function backUp(placeOf: (round: number) => string): Promise<never> {
  const local = await openLocal({ dataDir: join(folder, 'data'), env })
  const unasked = () => Promise.reject(new Error('A passphrase was asked for.'))
  ready()
  for (let round = 1; ; round++) {
    const wish = { to: join(folder, placeOf(round)), encrypt: false, startsOver: true }
    await local.domain.backups.create(await backupTarget(local, wish, { chosen: unasked, known: unasked }))
  }
}

async function bringBack(): Promise<void> {
  const header = await repositoryAt(join(folder, 'repo'))
  const source = readRepository(join(folder, 'repo'), header!, undefined)
  const newest = (await source.ids()).at(-1)!
  ready()
  await restore(source, newest, { target: join(folder, 'new'), keepDevices: false })
}

if (what === 'backup') await backUp(() => 'repo')
else if (what === 'archive') await backUp((round) => `${round}.tar`)
else if (what === 'restore') await bringBack()
else {
  const running =
    what === 'serve'
      ? await serve({ dataDir: folder, env, log: false })
      : { url: '', failed: undefined, ...(await openLocal({ dataDir: folder, env })) }
  void running.failed?.then(() => process.exit(1))
  ready(running.url)
  process.stdin.resume().once('end', () => void running.close())
}
