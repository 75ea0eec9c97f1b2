import { formatSize } from '../../base/sizes.ts'
import { printable } from '../../base/text.ts'
import { pluralize } from '../../base/counts.ts'
import { command, flag } from '../command.ts'
import { Exit } from '../exit.ts'
import { retryOptions } from '../retry-options.ts'

interface Branch {
  /** Bytes; undefined for a folder. */
  size?: number
  children: Map<string, Branch>
}

export const tree = command({
  name: 'files tree',
  summary: 'Show everything below a folder as a tree',
  details: 'Files of chat rooms have a tree of their own: svc files tree /Teamchat.',
  needs: 'server',
  onlyPrints: true,
  args: { path: { summary: 'folder (the top folder)', optional: true } },
  flags: {
    depth: flag.integer('maximum depth of folders', 'N', 1, 64),
    folders: flag.switch('folders only', { short: 'd' }),
    long: flag.switch('with sizes', { short: 'l' }),
  },
  examples: ['svc files tree', 'svc files tree /photos --depth 2', 'svc files tree --folders'],
  async run({ io, api, args, flags }) {
    const { lookUp, readTree, remotePath } = await import('../../client/files/remote-files.ts')
    const { withRetry } = await import('../../client/http/request-retry.ts')
    const path = remotePath(args.path ?? '/')
    const found = await lookUp(api, path)
    if (!found) throw new Exit(5, `There is no ${path} in the account.`, 'not_found')
    if (found.type === 'file') throw new Exit(6, `${path} is a file: svc files ls shows it.`, 'conflict')
    const all = await withRetry(() => readTree(api, path), retryOptions(io))
    const files = flags.folders ? [] : all.files
    const top = branchesOf(path, files, all.directories)
    const depth = flags.depth ?? Infinity
    const lines = [path, ...linesOf(top, depth, flags.long)].map(printable)
    const bytes = all.files.reduce((sum, { size }) => sum + size, 0)
    const totals = `${pluralize(all.directories.length, 'folder')}, ${pluralize(all.files.length, 'file')}, ${formatSize(bytes)}`
    const isShallow = (each: string) => each.split('/').length - path.replace(/\/$/, '').split('/').length <= depth
    io.print(`${lines.join('\n')}\n\n${totals}`, {
      path,
      directories: all.directories.filter(isShallow),
      ...(!flags.folders && { files: files.filter((file) => isShallow(file.path)) }),
    })
  },
})

/** The entries below a folder, in the server's order: folders first. */
function branchesOf(
  folder: string,
  files: readonly { path: string; size: number }[],
  folders: readonly string[],
): Branch {
  const top: Branch = { children: new Map() }
  const start = folder === '/' ? 1 : folder.length + 1
  const place = (path: string): Branch =>
    path
      .slice(start)
      .split('/')
      .reduce((at, name) => {
        const next = at.children.get(name) ?? { children: new Map<string, Branch>() }
        at.children.set(name, next)
        return next
      }, top)
  for (const path of [...folders].sort()) place(path)
  for (const { path, size } of [...files].sort((a, b) => (a.path < b.path ? -1 : 1))) place(path).size = size
  return top
}

function linesOf({ children }: Branch, depth: number, long: boolean, before = ''): string[] {
  if (depth === 0) return []
  const entries = [...children].sort(([, a], [, b]) => Number(a.size !== undefined) - Number(b.size !== undefined))
  return entries.flatMap(([name, branch], index) => {
    const isLast = index === entries.length - 1
    const size = long && branch.size !== undefined ? `  (${formatSize(branch.size)})` : ''
    const line = `${before}${isLast ? '└── ' : '├── '}${name}${branch.size === undefined ? '/' : ''}${size}`
    return [line, ...linesOf(branch, depth - 1, long, `${before}${isLast ? '    ' : '│   '}`)]
  })
}
