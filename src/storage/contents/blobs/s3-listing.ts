import type { S3Location } from './s3-location.ts'
import type { S3Requests } from './s3-request.ts'
import { listIn } from './s3-xml.ts'
import { S3Failure } from './s3-errors.ts'

interface Listed {
  /** Name after the prefix of the store. */
  key: string
  size: number
  /** Epoch ms by the store's clock. */
  modified: number
  storeTime: number
  ahead: number
}

/** The objects with this prefix, in pages of at most this size. */
export async function* listed(
  { ask }: S3Requests,
  { prefix, name }: S3Location,
  beginning: string,
  pageSize: number,
): AsyncGenerator<Listed> {
  let next: string | undefined
  do {
    const { text, storeTime, ahead } = await ask({
      method: 'GET',
      query: {
        'list-type': '2',
        'max-keys': String(pageSize),
        prefix: prefix + beginning,
        ...(next !== undefined && { 'continuation-token': next }),
      },
    })
    const list = listIn(text)
    if (!list) throw new S3Failure(`What answers as the store ${name} is no S3 store: correct the endpoint.`, 200, '')
    for (const { Key, Size, LastModified } of list.entries) {
      yield {
        key: Key!.slice(prefix.length),
        size: Number(Size),
        modified: Date.parse(LastModified!),
        storeTime,
        ahead,
      }
    }
    next = list.fields['IsTruncated'] === 'true' ? list.fields['NextContinuationToken'] : undefined
  } while (next !== undefined)
}
