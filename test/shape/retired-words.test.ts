import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { filesBelow, root } from './repository.ts'
import { retiredWords, wireFields } from './retired-words.ts'

const files = filesBelow('src').filter((file) => /\.tsx?$/.test(file))

/** The identifiers of a file, roughly: every word outside comments and quotation marks. */
function identifiersIn(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8').replace(/\/\*[^]*?\*\/|\/\/[^\n]*|'[^'\n]*'/g, ' ')
  return text.match(/[A-Za-z_$][\w$]*/g) ?? []
}

test('no retired word names anything under src', () => {
  const found = files.flatMap((file) => {
    const words = new Set([...identifiersIn(file), basename(file).replace(/\..*$/, '')])
    return [...words].flatMap((word) =>
      Object.hasOwn(retiredWords, word) && !wireFields[word]?.includes(file)
        ? [`${file}: write ${retiredWords[word]} instead of ${word}`]
        : [],
    )
  })
  expect(found).toEqual([])
})
