import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../shape/repository.ts'

// Extracts the runnable parts of documentation pages.

/** A code block of a page. */
export interface Block {
  language: string
  lines: string[]
  /** The reason why the block is not run, from the comment after it. */
  exempt: string | undefined
}

export const pageNames = ['README.md', ...readdirSync(join(root, 'src/docs')).map((name) => `src/docs/${name}`)].filter(
  (name) => name.endsWith('.md') && !/(api-reference|docs\/README)\.md$/.test(name),
)

/** What to do when something has gone wrong; each is run by a test in that situation. */
export const recoveryPages = [
  'src/docs/recovery.md',
  ...[...readFileSync(join(root, 'src/docs/recovery.md'), 'utf8').matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm)].map(
    ([, page]) => `src/docs/${page}`,
  ),
]

/** Pages for developers, which are not help topics. */
export const decisionNames = readdirSync(join(root, 'src/docs/decisions')).map((name) => `src/docs/decisions/${name}`)

export const pageText = (name: string): string => readFileSync(join(root, name), 'utf8')

export function blocksOf(page: string): Block[] {
  const blocks = [...page.matchAll(/^```(\w+)\n([^]*?)^```$(?:\s*<!-- (not run|run by)[:]? ?([^]*?) -->)?/gm)]
  return blocks.map(([, language, text, kind, reason]) => ({
    language: language!,
    lines: text!
      .trimEnd()
      .replace(/\\\n\s*/g, '')
      .split('\n'),
    exempt: kind === undefined ? undefined : `${kind} ${reason}`,
  }))
}

/** The words of the first svc command in a shell line, without shell syntax; undefined if there is none. */
export function svcWordsOf(line: string): string[] | undefined {
  const start = /(?:^|[|;&(] *)(?:npx )?svc /.exec(line)
  if (!start) return undefined
  const rest = line.slice(start.index + start[0].length)
  const words: string[] = []
  const word = /\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(\d?[<>|&;#)].*)|([^\s"';|&<>()]+))/y
  for (let found = word.exec(rest); found && found[3] === undefined; found = word.exec(rest)) {
    words.push(found[1] ?? found[2] ?? found[4]!)
  }
  return words
}

/** Code spans outside of code blocks. */
export const spansOf = (page: string): string[] =>
  [...page.replace(/^```[^]*?^```$/gm, '').matchAll(/`([^`]+)`/g)].map(([, text]) => text!.replace(/\s+/g, ' '))

export interface Step {
  command: string
  /** What it prints; undefined where that is not shown. */
  output: string | undefined
}

/** The commands of a page in their order. */
export function stepsOf(page: string): Step[] {
  return blocksOf(page)
    .filter(({ exempt }) => exempt === undefined)
    .flatMap(({ language, lines }): Step[] => {
      if (language === 'sh') return lines.filter(Boolean).map((command) => ({ command, output: undefined }))
      if (language !== 'console') return []
      return lines
        .join('\n')
        .split(/^\$ /m)
        .slice(1)
        .map((part) => {
          const [command, ...output] = part.split('\n')
          return { command: command!, output: output.join('\n').trim() }
        })
    })
}
