import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand, runCommandWith } from '../support/command.ts'
import { bytesOf, sha256Of } from '../support/contents.ts'
import { lineOfTest } from '../support/s3-line.ts'
import { folderOfTest, serverOfTest } from '../support/server.ts'

test('a check while the server runs says what is wrong, for whom, and ends with a code for it', async () => {
  const server = await serverOfTest()
  const ada = await server.account({ username: 'ada' })
  const content = bytesOf(100_000)
  await ada.put('/letters/to\u0301.bin', content)
  const svc = (...args: string[]) => runCommand(server.dataDir, 'storage', 'check', ...args)
  expect(await svc()).toMatchObject({ code: 0, stderr: '' })

  await server.database.write('instance', (tx) =>
    tx.q.updateTable('counters').set({ used_bytes: 7 }).where('user_id', '=', ada.id).execute(),
  )
  const drift = await svc()
  expect(drift.code).toBe(3)
  expect(drift.stdout).toBe(
    [
      'quota-drift  repairable',
      '  account ada: 7 bytes of files are counted, there are 100000',
      '',
      'Checked 4 file and folder rows, 2 changes and 1 content (97.7 KB, all read).',
      'Found: 1 can be repaired with --repair.',
      '',
    ].join('\n'),
  )
  const repaired = await svc('--repair')
  expect([repaired.code, repaired.stdout.split('\n').at(0), repaired.stdout.split('\n').at(-2)]).toEqual([
    3,
    'quota-drift  repaired',
    'Found: 1 repaired.',
  ])
  expect((await svc('--repair')).code).toBe(0)

  const sha256 = sha256Of(content)
  await rm(join(server.dataDir, 'blobs', sha256.slice(0, 2), sha256.slice(2, 4), sha256))
  const broken = await svc('--repair', '--quick')
  expect(broken).toEqual({
    code: 1,
    stdout: [
      'blob-missing  broken',
      `  content ${sha256}: the bytes of a content are missing`,
      '    ada: /letters/to\u0301.bin',
      '',
      'Checked 4 file and folder rows, 2 changes and 1 content (97.7 KB, not read).',
      'Found: 1 damaged: restore what they name from a backup.',
      '',
    ].join('\n'),
    stderr: '',
  })
  expect(JSON.parse((await svc('--json')).stdout)).toMatchObject({
    sound: false,
    findings: [
      {
        id: 'blob-missing',
        object: `content ${sha256}`,
        repairable: false,
        repaired: false,
        used_by: ['ada: /letters/to\u0301.bin'],
      },
    ],
  })
})

test('contents are not moved to where they are already, nor where the store fails, which no server is blamed for', async () => {
  const dataDir = join(await folderOfTest(), 'data')
  await runCommand(dataDir, 'init', '--admin', 'root', '--generate')
  const store = await lineOfTest('http://127.0.0.1:9')
  let lists = 0
  const empty = { status: 200, body: '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>' }
  store.decide(({ method, url }) => {
    if (url.includes('list-type')) lists += 1
    // The third is the one that is made when no server may run any more.
    const list = lists > 2 && lists < 8 ? { status: 503, code: 'SlowDown' } : empty
    const other = method === 'PUT' ? { status: 200 } : { status: 404, code: 'NoSuchKey' }
    return { answer: url.includes('list-type') ? list : other }
  })
  const to = `s3://svc-files?endpoint=${store.url}`
  const keys = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' }
  const move = () => runCommandWith({ HOME: dataDir, SVC_DATA_DIR: dataDir, ...keys }, 'storage', 'migrate', '--to', to)
  const { host } = new URL(store.url)
  const failed = `svc: The store s3://svc-files at ${host} answered 503 SlowDown. Try again in a moment.\n`
  expect(await move()).toEqual({ code: 7, stdout: '', stderr: failed })
  expect(await move()).toMatchObject({ code: 0 })
  expect(await move()).toEqual({ code: 6, stdout: '', stderr: 'svc: The contents are already there.\n' })
})
