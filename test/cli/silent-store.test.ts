import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ended, startCommandWith } from '../support/command.ts'
import { bytesOf } from '../support/contents.ts'
import { lineOfTest } from '../support/s3-line.ts'
import { s3Environment, s3OfFile } from '../support/s3.ts'
import { folderOfTest, startServer } from '../support/server.ts'

const store = s3OfFile()
const CONTENT = /^\/[^/]+\/[0-9a-f]{2}\/[0-9a-f]{2}\/[0-9a-f]{64}$/

test.each([
  ['backup create --to $FOLDER/repository', 'GET'],
  ['backup create --to $FOLDER/backup.tar', 'HEAD'],
  ['backup create --to $FOLDER/backup.tar', 'GET'],
  ['storage migrate --to disk:', 'GET'],
])('svc %s ends at once when it is asked to while a store does not answer a %s', async (line, silent) => {
  const [folder, bucket] = [await folderOfTest(), await store.bucket()]
  const way = await lineOfTest(bucket.endpoint)
  const dataDir = join(folder, 'data')
  const blobs = bucket.address({ endpoint: way.url })
  const server = await startServer({ dataDir, flags: { blobs }, env: s3Environment })
  await (await server.account()).put('/large.bin', bytesOf(100_000))
  await server.close()

  const asked = new Promise<void>((resolve) =>
    way.decide(({ method, url }) => {
      if (method !== silent || !CONTENT.test(url)) return undefined
      resolve()
      return { silence: true }
    }),
  )
  const env = { HOME: folder, SVC_DATA_DIR: dataDir, SVC_BLOBS: blobs, ...s3Environment }
  const command = startCommandWith(env, ...line.replace('$FOLDER', folder).split(' '))
  onTestFinished(() => void command.kill('SIGKILL'))
  const end = ended(command)
  await Promise.race([asked, end])
  command.kill('SIGTERM')
  // Silence is taken for a lost connection after 20 seconds, twice.
  expect(await end).toEqual({ code: 130, stdout: '', stderr: 'svc: Interrupted.\n' })
})
