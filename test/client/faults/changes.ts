import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { write } from '../sync/bench.ts'

/** What both sides of each case hold at first. */
const BEFORE: Record<string, string | null> = {
  'f.txt': 'file',
  d: null,
  'd/x.txt': 'in the folder',
  'd/y/z.txt': 'deep in the folder',
}

/** One thing that somebody does in a folder; `who` stands in what they write. */
export type Change = (folder: string, who: string) => void

const move = (folder: string, from: string, to: string): void => {
  mkdirSync(dirname(join(folder, to)), { recursive: true })
  renameSync(join(folder, from), join(folder, to))
}
const remove = (folder: string, name: string): void => rmSync(join(folder, name), { recursive: true })

export const changes: Record<string, Change> = {
  nothing: () => undefined,
  'edits the file': (folder, who) => write(folder, 'f.txt', `file, edited by ${who}`),
  'deletes the file': (folder) => remove(folder, 'f.txt'),
  'moves the file': (folder, who) => move(folder, 'f.txt', `moved by ${who}.txt`),
  'moves the file into the folder': (folder) => move(folder, 'f.txt', 'd/f.txt'),
  'makes the file a folder': (folder, who) => {
    remove(folder, 'f.txt')
    write(folder, `f.txt/of ${who}.txt`, `in what was a file, by ${who}`)
  },
  'edits in the folder': (folder, who) => write(folder, 'd/x.txt', `in the folder, edited by ${who}`),
  'adds to the folder': (folder, who) => write(folder, 'd/new.txt', `new, by ${who}`),
  'deletes the folder': (folder) => remove(folder, 'd'),
  'moves the folder': (folder, who) => move(folder, 'd', `e of ${who}`),
  'makes the folder a file': (folder, who) => {
    remove(folder, 'd')
    write(folder, 'd', `was a folder, by ${who}`)
  },
  'swaps file and folder': (folder) => {
    move(folder, 'f.txt', 'aside')
    move(folder, 'd', 'f.txt')
    move(folder, 'aside', 'd')
  },
}

export function prepare(folder: string): void {
  for (const [path, content] of Object.entries(BEFORE)) if (content !== null) write(folder, path, content)
}

/** Contents that somebody gave up by a change: those it removed or replaced where they were. */
export const givenUp = (name: string): string[] => {
  const inFolder = ['in the folder', 'deep in the folder']
  const lost: Record<string, string[]> = {
    'edits the file': ['file'],
    'deletes the file': ['file'],
    'makes the file a folder': ['file'],
    'edits in the folder': ['in the folder'],
    'deletes the folder': inFolder,
    'makes the folder a file': inFolder,
  }
  return lost[name] ?? []
}
