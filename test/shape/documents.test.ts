import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { filesBelow, foldersIn, root } from './repository.ts'

const floors = foldersIn('src')

test.each(floors)('the floor src/%s says in at most 20 lines what it is for', (floor) => {
  const file = join(root, 'src', floor, 'README.md')
  expect(existsSync(file), `write src/${floor}/README.md`).toBe(true)
  expect(readFileSync(file, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(20)
})

const documents = filesBelow().filter((file) => file.endsWith('.md'))

/** Text without blocks of code and without code in a line, in which brackets mean something else. */
const prose = (markdown: string) => markdown.replace(/^(`{3,})[^]*?^\1/gm, '').replace(/`[^`\n]*`/g, '')

/** Anchors of the headings, as the usual viewers of Markdown make them. */
function anchorsOf(file: string): string[] {
  const headings = readFileSync(join(root, file), 'utf8').matchAll(/^#{1,6} +(.+?) *#*$/gm)
  const slugs = [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  )
  return slugs.map((slug, at) => {
    const before = slugs.slice(0, at).filter((other) => other === slug).length
    return before === 0 ? slug : `${slug}-${before}`
  })
}

function isBroken(from: string, target: string): boolean {
  if (/^[a-z][a-z+.-]*:/i.test(target)) return false
  const [path = '', anchor] = decodeURI(target).split('#')
  const file = path === '' ? from : join(dirname(from), path)
  if (!existsSync(join(root, file))) return true
  if (anchor === undefined) return false
  return !statSync(join(root, file)).isFile() || !anchorsOf(file).includes(anchor)
}

describe.each(documents)('%s', (document) => {
  test('has only links that lead somewhere', () => {
    const text = prose(readFileSync(join(root, document), 'utf8'))
    const links = [...text.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)|^\[[^\]]+\]:\s+(\S+)/gm)]
    const targets = links.map(([, inline, reference]) => inline ?? reference ?? '')
    expect(targets.filter((target) => isBroken(document, target))).toEqual([])
  })
})
