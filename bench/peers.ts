import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { delimiter, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { plainEnv } from './server.ts'
import type { Workspace } from './workspace.ts'

// Other sync programs, if installed.

const NGINX = 'nginx'
const DAV_MODULE = '/usr/lib/nginx/modules/ngx_http_dav_ext_module.so'

/** Whether a program is installed, by name or absolute path. */
export const isInstalled = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(resolve(folder, program)))

/** The missing program of rclone and nginx; undefined if both are installed. */
export const noRclone = (): string | undefined =>
  !isInstalled('rclone')
    ? 'rclone is not installed'
    : !isInstalled(NGINX)
      ? 'nginx is not installed'
      : existsSync(DAV_MODULE)
        ? undefined
        : 'nginx has no PROPFIND (libnginx-mod-http-dav-ext)'

/** Runs a program to its end; throws its output if it fails. */
export function run(program: string, args: string[], env: NodeJS.ProcessEnv = {}): void {
  const { status, stderr, stdout } = spawnSync(program, args, { env: { ...plainEnv(), ...env }, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ended with ${status}:\n${stderr}${stdout}`)
}

/** Runs `work` while a program runs, and ends the program. */
export async function withProgram<T>(
  workspace: Workspace,
  program: string,
  args: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const child = spawn(program, args, { stdio: 'ignore' })
  workspace.adopt(child)
  const exit = once(child, 'exit')
  try {
    return await work()
  } finally {
    child.kill('SIGTERM')
    await exit
  }
}

/** Tries again for some seconds, for example while a program is starting. */
export async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (tries === 100) throw error
      await sleep(50)
    }
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const configuration = (folder: string, port: number): string => `
load_module ${DAV_MODULE};
daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log crit;
events { worker_connections 256; }
http {
  access_log off; client_body_temp_path ${folder}/body; keepalive_requests 1000000;
  server {
    listen 127.0.0.1:${port}; root ${folder}/files; client_max_body_size 0; create_full_put_path on;
    dav_methods PUT DELETE MKCOL COPY MOVE; dav_ext_methods PROPFIND OPTIONS;
  }
}
`

/** Runs `work` while nginx serves an empty folder over WebDAV for rclone. */
export async function withWebDav<T>(workspace: Workspace, work: (sync: Rclone) => Promise<T>): Promise<T> {
  const folder = workspace.folder('nginx')
  const port = await freePort()
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, port))
  run('mkdir', ['-p', join(folder, 'files'), join(folder, 'body')])
  const args = ['-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')]
  return withProgram(workspace, NGINX, args, async () => {
    const url = `http://127.0.0.1:${port}/`
    await answering(url)
    // More transfers do not help: rclone's WebDAV sends at most a hundred requests per second, and three for each new
    // file.
    const flags = ['--config', '/dev/null', '--webdav-url', url, '--transfers', '8', '--checkers', '16']
    return work({
      up: (local, remote) => run('rclone', ['sync', local, `:webdav:${remote}`, ...flags]),
      place: (local) => run('cp', ['-a', local, join(folder, 'files', 'up')]),
      down: (remote, local) => run('rclone', ['sync', `:webdav:${remote}`, local, ...flags]),
    })
  })
}

/** One-way copies with rclone. */
export interface Rclone {
  up(local: string, remote: string): void
  down(remote: string, local: string): void
  /** Copies a folder to where `up` would upload it, without rclone. */
  place(local: string): void
}

/** Resolves when something answers at a URL. */
export const answering = (url: string): Promise<unknown> => eventually(() => fetch(url))
