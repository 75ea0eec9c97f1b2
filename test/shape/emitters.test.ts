import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { filesBelow, root } from './repository.ts'

// An event `error` that nobody hears ends the process.

/** How emitters that the outside world can break are made, by the call. */
const MADE = /\b(?:new pg\.(?:Client|Pool)|new Worker|spawn|createReadStream|createWriteStream|createConnection)\(/g
/** What hears their errors: a listener, a pipeline, or a loop that reads them to their end. */
const HEARD = /\.(?:on|once)\(\s*'error'|\bpipeline\(|\bfor await\b|\byield\*/g

const count = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length

/** What runs in a browser. */
const isOfBrowser = (file: string): boolean =>
  file.startsWith('src/desktop/') || file === 'src/http/service/sandbox-frame.ts'

test('every file that makes an emitter hears its errors', () => {
  const deaf: string[] = []
  let made = 0
  for (const file of filesBelow('src').filter((each) => each.endsWith('.ts') && !isOfBrowser(each))) {
    const text = readFileSync(join(root, file), 'utf8')
    made += count(text, MADE)
    if (count(text, MADE) > count(text, HEARD)) deaf.push(file)
  }
  expect(made).toBeGreaterThan(10)
  expect(deaf).toEqual([])
})
