import { tarEnd, tarHeader, tarPadding } from '../../../../src/base/tar-writer.ts'
import { UPLOAD_BATCH } from '../../../../src/contract/limits.ts'
import { bytesOf, numbers } from '../../../samples.ts'
import type { Scenario } from '../scenario.ts'

/** Archives with the largest number of small files. */
export const uploadBatch: Scenario = {
  name: 'upload-batch',
  async run({ ask, repeat, size }) {
    const archiveOf = (round: number) =>
      Buffer.concat([
        ...numbers(UPLOAD_BATCH.max_entries).flatMap((number) => {
          const content = bytesOf(round * UPLOAD_BATCH.max_entries + number, 2_000)
          const header = { name: `batch-${round}/${number}.bin`, size: content.length, mtime: 1, keys: {} }
          return [tarHeader(header), content, tarPadding(content.length)]
        }),
        tarEnd(),
      ])
    const archives = numbers(4).map(archiveOf)
    await repeat({ atOnce: 4, most: size(100, 12) }, (number) =>
      ask({
        path: '/api/sync/files.php?action=upload_batch',
        type: 'application/x-tar',
        body: archives[number % archives.length]!,
      }),
    )
  },
  allowed: /^(200|413 quota_exceeded|429 rate_limited|503 busy)$/,
  reached: /^200$/,
}
