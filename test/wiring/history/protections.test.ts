import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

type Protections = Record<string, { file: string; from: string }[]>
const url = new URL('protections.json', import.meta.url)
const protections = JSON.parse(readFileSync(url, 'utf8')) as Protections

// Whether the history of servers without one shows it is a matter of minutes: `npm run check:history -- --without lock`.
test.each(Object.entries(protections))('the protection "%s" is where it can be taken out', (_, changes) => {
  for (const { file, from } of changes) expect(readFileSync(file, 'utf8').split(from)).toHaveLength(2)
})
