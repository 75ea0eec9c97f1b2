import { join, resolve } from 'node:path'

// A repository is a folder, or a prefix in an S3 bucket. Both are named by a text, and what is in them by a longer one: the name of an object
// follows the address of a bucket after a `#`, which no address contains.

const BUCKET = /^s3:\/\//

export const isBucket = (place: string): boolean => BUCKET.test(place)

/** What to give instead of a place. */
export const anotherPlace = (place: string): string => (isBucket(place) ? 'another bucket or prefix' : 'another folder')

/** The name of a repository: an absolute path, or the address of a bucket. */
export const repositoryName = (text: string): string => (isBucket(text) ? text : resolve(text))

/** The path of something in a repository. */
export function within(place: string, ...names: string[]): string {
  if (!isBucket(place)) return join(place, ...names)
  return `${place}${place.includes('#') ? '/' : '#'}${names.join('/')}`
}

/** The bucket and the name of an object of `within`; the name is empty for the bucket itself. */
export function objectAt(path: string): { address: string; name: string } {
  const [address = '', name = ''] = path.split('#')
  return { address, name }
}
