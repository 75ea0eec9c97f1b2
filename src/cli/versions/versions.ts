import { formatSize } from '../../base/sizes.ts'
import type { Api } from '../../client/api.ts'
import type { Answer } from '../../contract/define.ts'
import { isFault } from '../../contract/errors.ts'
import type { versions as endpoint } from '../../contract/versions.ts'
import { command, flag } from '../command.ts'
import { Exit, usage } from '../exit.ts'
import type { Io } from '../io.ts'
import { formatTime } from '../time-format.ts'
import { retryOptions } from '../retry-options.ts'

type Version = Answer<typeof endpoint.actions.list>['versions'][number]

export const versions = command({
  name: 'versions',
  summary: 'List earlier contents of a file; print or restore one',
  details:
    'Replaced content is kept for a while (the setting retention.versions_days of the server). Restoring a ' +
    'version makes the current content a version too, so nothing is lost.',
  needs: 'server',
  onlyPrints: ({ flags }) => flags['restore'] === undefined,
  args: { path: 'file of the account' },
  flags: {
    print: flag.integer('print this version to standard output', 'ID', 1, Number.MAX_SAFE_INTEGER),
    restore: flag.integer('restore this version', 'ID', 1, Number.MAX_SAFE_INTEGER),
  },
  examples: [
    'svc versions /letter.txt',
    'svc versions /letter.txt --print 12',
    'svc versions /letter.txt --restore 12',
  ],
  async run({ io, api, args, flags }) {
    if (flags.print !== undefined && flags.restore !== undefined) throw usage('Give one of --print and --restore.')
    const { remotePath } = await import('../../client/files/remote-files.ts')
    const { withRetry } = await import('../../client/http/request-retry.ts')
    const { versions: endpoint } = await import('../../contract/versions.ts')
    const path = remotePath(args.path)
    const retry = retryOptions(io)
    const missing = (error: unknown): never => {
      if (isFault(error, 'not_found')) throw new Exit(5, `There is no file ${path} in the account.`, 'not_found')
      throw error
    }
    const { versions: all } = await withRetry(() => api.call(endpoint.actions.list, { path }), retry).catch(missing)
    const id = flags.print ?? flags.restore
    if (id === undefined) return show(io, all)
    const version = all.find(({ version_id, current }) => version_id === id && !current)
    if (!version) throw new Exit(5, `${path} has no version ${id}: svc versions ${path} lists them.`, 'not_found')
    if (flags.print !== undefined) return print(io, api, path, version)
    const { sha256 } = all.find(({ current }) => current)!
    const restored = await withRetry(
      () => api.call(endpoint.actions.restore, { path, version_id: id, if_sha256: sha256 }),
      retry,
    ).catch((error: unknown) => {
      if (isFault(error, 'precondition_failed'))
        throw new Exit(
          6,
          `${path} was changed at this moment: list the versions again before restoring one.`,
          'changed',
        )
      throw error
    })
    io.print(`${path} is again as it was on ${formatTime(version.mtime * 1_000)} (${formatSize(version.size)}).`, {
      path,
      version_id: id,
      version: restored.version,
    })
  },
})

function show(io: Io, all: Version[]): void {
  io.table(
    all,
    [
      { title: 'ID', value: ({ version_id, current }) => (current ? 'now' : String(version_id)), align: 'right' },
      { title: 'MODIFIED', value: ({ mtime }) => formatTime(mtime * 1_000) },
      { title: 'SIZE', value: ({ size }) => formatSize(size), align: 'right' },
      { title: 'SHA-256', value: ({ sha256 }) => sha256.slice(0, 12) },
    ],
    'There are no versions.',
  )
}

async function print(io: Io, api: Api, path: string, { version_id, sha256 }: Version): Promise<void> {
  const { versions: endpoint } = await import('../../contract/versions.ts')
  const { verified } = await import('../../client/files/download.ts')
  const { body } = await api.receive(endpoint.actions.download, { path, version_id })
  for await (const piece of verified(body, sha256, path)) await io.raw(piece)
}
