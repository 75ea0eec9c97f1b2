import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { assistantOwn, assistantStreams } from './assistant.ts'
import { backupAgain, backupAgainRestic, backupCreate } from './backup.ts'
import { serveBare } from './bare-server.ts'
import { serveFolder } from './node-files.ts'
import { serveRows } from './node-rows.ts'
import { calmGet, calmPing } from './calm.ts'
import { chatPoll, chatSend } from './chat.ts'
import { chatPeers } from './chat-peers.ts'
import { chatShow, chatStart } from './chat-screen.ts'
import { crowd } from './crowd.ts'
import { delta } from './delta.ts'
import { judge, type Figure, type Measured } from './figure.ts'
import {
  desktopApp,
  desktopLogin,
  desktopMemory,
  desktopScript,
  desktopScroll,
  desktopShift,
  desktopShown,
} from './desktop.ts'
import { flushTime, runWithSlowFlush } from './flush.ts'
import { folderList } from './folder-list.ts'
import { filesList, help, start, whoami } from './start-up.ts'
import { login, login2fa } from './login.ts'
import { longPoll } from './long-poll.ts'
import { largeRoom, largeRoomPostgres } from './large-room.ts'
import { largeDownload, largeUpload } from './large-file.ts'
import { manifest, memory, memoryAtOnce } from './manifest.ts'
import { noopSync, noopWork } from './noop-sync.ts'
import { othersMeanwhile } from './others-meanwhile.ts'
import { ping } from './ping.ts'
import { push } from './push.ts'
import { deltaRedis, pushEtcd, pushOneEtcd, pushOneNode, pushOneNodeEight, pushRedis } from './push-peers.ts'
import { search } from './search.ts'
import { seed } from './seed.ts'
import { severalServers } from './several-servers.ts'
import { tableOf } from './report.ts'
import { smallDownloads, smallUploads } from './small-files.ts'
import { syncLarge, syncLargeRclone, syncLargeUnison } from './sync-large.ts'
import { syncMemory, syncNoopMany } from './sync-many.ts'
import {
  syncDownload,
  syncDownloadRsync,
  syncDownloadUnison,
  syncLimited,
  syncNoop,
  syncUpload,
  syncUploadRsync,
  syncUploadUnison,
} from './sync-small.ts'
import { thumbnails } from './thumbnails.ts'
import { userList } from './user-list.ts'
import { webPeers } from './web-peers.ts'
import { openWorkspace } from './workspace.ts'

// Long-lived servers run in their own processes; this one generates the load and runs the peers.

const figures: readonly Figure[] = [
  ping,
  delta,
  deltaRedis,
  push,
  pushRedis,
  pushEtcd,
  pushOneEtcd,
  pushOneNode,
  pushOneNodeEight,
  calmPing,
  calmGet,
  severalServers,
  seed,
  largeUpload,
  largeDownload,
  smallUploads,
  smallDownloads,
  ...webPeers,
  manifest,
  memory,
  memoryAtOnce,
  folderList,
  thumbnails,
  chatSend,
  ...chatPeers,
  chatPoll,
  largeRoom,
  largeRoomPostgres,
  chatStart,
  chatShow,
  desktopScript,
  desktopLogin,
  desktopShown,
  desktopApp,
  desktopScroll,
  desktopShift,
  desktopMemory,
  longPoll,
  assistantOwn,
  assistantStreams,
  login,
  login2fa,
  help,
  whoami,
  filesList,
  start,
  userList,
  search,
  noopWork,
  noopSync,
  syncUpload,
  syncUploadUnison,
  syncUploadRsync,
  syncDownload,
  syncDownloadUnison,
  syncDownloadRsync,
  syncLimited,
  syncNoop,
  syncNoopMany,
  syncMemory,
  syncLarge,
  syncLargeUnison,
  syncLargeRclone,
  crowd,
  othersMeanwhile,
  backupCreate,
  backupAgain,
  backupAgainRestic,
]

const USAGE = `npm run bench -- [FIGURE …] [--json FILE] [--profile FOLDER] [--seconds N] [--slower-flush MS]

Figures: ${figures.map(({ name }) => name).join(', ')}
Peers that are not installed (Redis, etcd, Prosody, Apache, rclone, nginx with WebDAV, Unison, rsync, OpenSSH, restic) are left out.
--json writes the figures as JSON too, --profile CPU profiles of the servers (which slows them down),
--seconds is how long the figure crowd goes on: 60 if not given,
--slower-flush makes every flush of the disk, ours and the peers', take so many milliseconds longer (needs strace).
All of them take some forty minutes, two cores, and 8 GB in the temporary folder until the end.
`

const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    profile: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    'slower-flush': { type: 'string', default: '0' },
    help: { type: 'boolean', short: 'h' },
    'bare-server': { type: 'boolean' },
    serve: { type: 'string' },
    'serve-rows': { type: 'string' },
    port: { type: 'string' },
  },
})

const slower = Number(options['slower-flush'])
const unknown = names.find((name) => !figures.some((figure) => figure.name === name))
if (options['bare-server']) await serveBare()
else if (options.serve !== undefined) await serveFolder(options.serve, Number(options.port))
else if (options['serve-rows'] !== undefined) await serveRows(options['serve-rows'], Number(options.port))
else if (options.help) process.stdout.write(USAGE)
else if (unknown !== undefined) {
  process.stderr.write(`There is no figure "${unknown}".\n\n${USAGE}`)
  process.exitCode = 2
} else if (!(Number(options.seconds) >= 1)) {
  process.stderr.write(`--seconds must be a number from 1 on.\n\n${USAGE}`)
  process.exitCode = 2
} else if (!(slower >= 0 && slower <= 100)) {
  process.stderr.write(`--slower-flush must be a number of milliseconds, 100 at most.\n\n${USAGE}`)
  process.exitCode = 2
} else if (slower > 0) process.exitCode = await runWithSlowFlush(slower, withoutSlower(process.argv.slice(2)))
else await bench()

/** The arguments without this one: the started program is slowed down already. */
function withoutSlower(args: readonly string[]): string[] {
  const at = args.findIndex((arg) => arg.startsWith('--slower-flush'))
  return args.toSpliced(at, args[at] === '--slower-flush' ? 2 : 1)
}

async function bench(): Promise<void> {
  const chosen = figures.filter(({ name }) => names.length === 0 || names.includes(name))
  const workspace = openWorkspace({ profiles: options.profile, seconds: Number(options.seconds) })
  process.once('exit', () => workspace.clear())
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

  const flush = await flushTime(workspace)
  const measured: Measured[] = []
  for (const figure of chosen) {
    const missing = figure.missing?.()
    if (missing !== undefined) {
      process.stderr.write(`${figure.name}: left out, ${missing}\n`)
      continue
    }
    const start = performance.now()
    measured.push(judge(figure, await figure.measure(workspace)))
    process.stderr.write(`${figure.name}: ${Math.round((performance.now() - start) / 1_000)} s\n`)
  }
  process.stdout.write(`\n${tableOf(measured)}\n\nOne flush of this disk takes ${flush.toFixed(2)} ms.\n`)
  if (options.json)
    writeFileSync(
      options.json,
      `${JSON.stringify({ machine: { ...machine(), flush_ms: flush }, figures: measured }, null, 2)}\n`,
    )
}

function machine() {
  return { node: process.version, platform: process.platform, cpu: cpus()[0]?.model, cores: availableParallelism() }
}
