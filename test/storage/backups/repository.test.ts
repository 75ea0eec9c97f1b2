import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createRepository, readableHeader } from '../../../src/storage/backups/repository.ts'
import { temporaryFolder } from '../../support/folder.ts'

const SERVER = '5'.repeat(32)

test.each([true, false])(
  'A stream without a header keeps its key and can be read (encrypted: %s)',
  async (encrypted) => {
    const folder = join(await temporaryFolder(), 'backups')
    const key = (text: string) => (encrypted ? Buffer.from(text) : undefined)
    await createRepository(folder, SERVER, key('the key of the stream'))
    await mkdir(join(folder, 'stream', '00000001-20261126-031500-a1b2'), { recursive: true })
    await rm(join(folder, 'svc-backup.json'))

    await expect(createRepository(folder, SERVER, key('another key'))).rejects.toThrow('svc-backup.json is missing')
    if (encrypted) expect(await readFile(join(folder, 'key.age'), 'utf8')).toBe('the key of the stream')
    expect(await readableHeader(folder)).toMatchObject({
      encrypted,
      problem: expect.stringContaining('is missing') as string,
    })
  },
)
