import { createHash, createHmac } from 'node:crypto'
import type { Asked } from './s3-line.ts'

// Computes signatures of requests (Signature Version 4): the S3 server of the tests does not check them.

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${Buffer.from(sign).toString('hex')}`)

/** The signature's parameters, from the query or the header. */
function statement({ url, headers }: Asked) {
  const query = new URL(url, 'http://host').searchParams
  const header = Object.fromEntries(
    [...(headers.authorization ?? '').matchAll(/(\w+)=([^,]+)/g)].map(([, name, value]) => [name!, value!]),
  )
  const isInQuery = query.has('X-Amz-Signature')
  const read = (name: string) => (isInQuery ? query.get(`X-Amz-${name}`) : header[name]) ?? ''
  return {
    query,
    signature: read('Signature'),
    names: read('SignedHeaders').split(';'),
    scope: read('Credential').split('/').slice(1),
    date: (isInQuery ? query.get('X-Amz-Date') : headers['x-amz-date']) as string,
    payload: isInQuery ? 'UNSIGNED-PAYLOAD' : (headers['x-amz-content-sha256'] as string),
  }
}

export const given = (asked: Asked): string => statement(asked).signature

/** The expected signature of a request for a secret key. */
export function signatureOf(asked: Asked, secret: string): string {
  const { query, names, scope, date, payload } = statement(asked)
  const sorted = [...query]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
  const path = new URL(asked.url, 'http://host').pathname.split('/').map((part) => encoded(decodeURIComponent(part)))
  const headers = names.map((name) => `${name}:${String(asked.headers[name]).trim()}\n`)
  const request = [asked.method, path.join('/'), sorted.join('&'), headers.join(''), names.join(';'), payload].join(
    '\n',
  )
  const digest = createHash('sha256').update(request).digest('hex')
  const key = scope.reduce<string | Buffer>((inner, part) => hmac(inner, part), `AWS4${secret}`)
  return hmac(key, ['AWS4-HMAC-SHA256', date, scope.join('/'), digest].join('\n')).toString('hex')
}
