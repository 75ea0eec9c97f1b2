import { texts } from './hostile.ts'
import type { Operation } from './operations.ts'
import type { Shot } from './shot.ts'

/** Everything beside the operations: pages, files of apps, what watches the service, and what is not there at all. */
export const addresses: Operation = {
  id: 'addresses',
  method: 'GET',
  path: '/',
  action: '',
  takes: 'nothing',
  parameters: {},
  body: {},
  optional: {},
  ways: ['nobody'],
  statuses: new Set(),
}

const PLACES = ['', '/api', '/api/sync', '/apps', '/apps/notes', '/healthz', '/metrics', '/api/docs', '/setup/x']

/** A text as the part of an address it would be if nobody escaped it, as far as HTTP can say it. */
const bare = (text: string): string =>
  Array.from(text, (character) =>
    /^[!-~]$/.test(character) ? character : encodeURIComponent(character.toWellFormed()),
  )
    .join('')
    .replaceAll('#', '%23')

/** Every text behind every place, as it is and escaped. */
export function* addressShots(): Generator<Shot> {
  const shot = (method: string, target: string): Shot => ({
    operation: addresses,
    what: `the address is ${target.slice(0, 80)}`,
    method,
    target,
    by: 'nobody',
    headers: {},
    body: undefined,
    refuse: false,
  })
  for (const place of PLACES) {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']) yield shot(method, place || '/')
    for (const [, text] of texts) {
      yield shot('GET', `${place}/${bare(text)}`)
      yield shot('GET', `${place}/${encodeURIComponent(text.toWellFormed())}`)
    }
  }
}
