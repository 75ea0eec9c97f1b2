import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { filesBelow, root } from './repository.ts'

// What a checkout must not speak of: places outside it, tickets that a reader cannot open, and where somebody's packages come from.
// Put together from pieces, because this file is searched too.
const unwanted = {
  'a folder beside the repository': new RegExp(['\\.\\.', 'shared\\b'].join('/')),
  'the number of a ticket': new RegExp(['\\bissue', '#'].join(' '), 'i'),
  'the address of a package registry': new RegExp(['https?://(?:[\\w-]+\\.)*', '(?:registry|npm)\\.'].join(''), 'i'),
}

const files = filesBelow().filter((file) => file !== 'package-lock.json')

test.each(Object.entries(unwanted))('no file mentions %s', (_, pattern) => {
  const found = files.filter((file) => pattern.test(readFileSync(join(root, file), 'utf8')))
  expect(found).toEqual([])
})
