import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { eventually, freePort, isInstalled, run, withProgram } from './peers.ts'
import type { Workspace } from './workspace.ts'

// Sync programs over SSH, here to the same machine. None of them flushes files.

const SSHD = '/usr/sbin/sshd'

/** The missing program of a peer, OpenSSH client and server; undefined if all are installed. */
export const noSsh = (program: 'unison' | 'rsync' | 'rclone') => (): string | undefined =>
  [program, 'ssh', 'ssh-keygen', SSHD].map((one) => (isInstalled(one) ? '' : `${one} is not installed`)).find(Boolean)

/** One-way copies in both directions, and synchronisation with Unison. Folders are absolute paths. */
export interface Ssh {
  /** Synchronises two folders; `memory` is Unison's archive folder. */
  unison(here: string, there: string, memory: string): void
  rsyncUp(here: string, there: string): void
  rsyncDown(there: string, here: string): void
  rcloneUp(here: string, there: string): void
}

const serverOptions = (folder: string, port: number): string => `
Port ${port}
ListenAddress 127.0.0.1
HostKey ${folder}/host
AuthorizedKeysFile ${folder}/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
Subsystem sftp internal-sftp
`

/** Runs `work` with an SSH server that accepts a temporary key of this user. */
export async function withSsh<T>(workspace: Workspace, work: (ssh: Ssh) => Promise<T>): Promise<T> {
  const folder = workspace.folder('ssh')
  const port = await freePort()
  for (const key of ['host', 'user']) run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, key)])
  writeFileSync(join(folder, 'sshd_config'), serverOptions(folder, port))
  // As root, sshd requires this folder.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true })
  const ssh = join(folder, 'ssh')
  const options = '-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o BatchMode=yes'
  writeFileSync(ssh, `#!/bin/sh\nexec ssh -F none -p ${port} -i ${folder}/user ${options} "$@"\n`)
  chmodSync(ssh, 0o755)
  return withProgram(workspace, SSHD, ['-D', '-e', '-f', join(folder, 'sshd_config')], async () => {
    await answering(ssh)
    return work(programs({ ssh, port, key: join(folder, 'user') }))
  })
}

const answering = (ssh: string): Promise<void> =>
  eventually(async () => {
    const { status } = spawnSync(ssh, ['127.0.0.1', 'true'], { stdio: 'ignore' })
    if (status !== 0) throw new Error('The SSH server lets nobody in.')
  })

function programs({ ssh, port, key }: { ssh: string; port: number; key: string }): Ssh {
  const rsync = (...args: string[]): void => run('rsync', ['--archive', '--rsh', ssh, ...args])
  return {
    unison(here, there, memory) {
      const flags = ['-sshcmd', ssh, '-batch', '-auto', '-silent', '-ui', 'text']
      run('unison', [here, `ssh://127.0.0.1/${there}`, ...flags], { UNISON: memory })
    },
    rsyncUp: (here, there) => rsync(`${here}/`, `127.0.0.1:${there}`),
    rsyncDown: (there, here) => rsync(`127.0.0.1:${there}/`, here),
    rcloneUp(here, there) {
      const flags = ['--sftp-host', '127.0.0.1', '--sftp-port', `${port}`, '--sftp-user', userInfo().username]
      run('rclone', ['--config', '/dev/null', 'sync', here, `:sftp:${there}`, ...flags, '--sftp-key-file', key])
    },
  }
}
