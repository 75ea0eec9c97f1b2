import { texts } from './hostile.ts'
import type { Operation } from './operations.ts'
import type { Shot } from './shot.ts'

/** Addresses besides the operations: pages, files of apps, monitoring, and unknown ones. */
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

/** A text as a part of a URL without escaping, as far as HTTP permits. */
const bare = (text: string): string =>
  Array.from(text, (character) =>
    /^[!-~]$/.test(character) ? character : encodeURIComponent(character.toWellFormed()),
  )
    .join('')
    .replaceAll('#', '%23')

/** Every text appended to every address, with and without escaping. */
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
