import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { answering, freePort, isInstalled, withProgram } from './peers.ts'
import type { Workspace } from './workspace.ts'

export type Program = 'nginx' | 'apache2' | 'node'

/** Its URL, and the folder that it serves. */
export interface WebServer {
  url: string
  files: string
}

/** Undefined if the web server is installed. */
export const noWebServer = (program: Program) => (): string | undefined =>
  program === 'node' || isInstalled(program) ? undefined : `${program} is not installed`

/** As many processes as in a package of Debian on this machine, and no log. */
const configurations: Record<Exclude<Program, 'node'>, (folder: string, port: number) => string> = {
  nginx: (folder, port) => `
user root; worker_processes auto; daemon off; pid ${folder}/pid; error_log ${folder}/error.log crit;
events { worker_connections 256; }
http {
  access_log off; client_body_temp_path ${folder}/body; keepalive_requests 1000000; client_body_buffer_size 64k;
  server {
    listen 127.0.0.1:${port}; root ${folder}/files; client_max_body_size 0; dav_methods PUT; create_full_put_path on;
    location ~ /$ { autoindex on; autoindex_format json; }
  }
}
`,
  apache2: (folder, port) => `
ServerName localhost
ServerRoot ${folder}
PidFile ${folder}/pid
ErrorLog ${folder}/error.log
DefaultRuntimeDir ${folder}
Listen 127.0.0.1:${port}
${['mpm_event', 'authz_core', 'autoindex', 'dav', 'dav_fs', 'dir', 'mime']
  .map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`)
  .join('\n')}
${process.getuid?.() === 0 ? 'User www-data\nGroup www-data' : ''}
TypesConfig /dev/null
MaxKeepAliveRequests 0
KeepAliveTimeout 600
DavLockDB ${folder}/body/locks
DocumentRoot ${folder}/files
<Directory ${folder}/files>
  Require all granted
  Options Indexes
  Dav On
</Directory>
`,
}

/** Creates a folder in which every user can write. */
export function makeFolderForAll(path: string): void {
  mkdirSync(path, { recursive: true })
  chmodSync(path, 0o777)
}

/** The command that serves `files` of the folder. */
function commandOf(program: Program, folder: string, port: number): [string, string[]] {
  if (program === 'node')
    return [process.execPath, [process.argv[1]!, '--serve', join(folder, 'files'), '--port', `${port}`]]
  const file = join(folder, 'server.conf')
  writeFileSync(file, configurations[program](folder, port))
  return [program, program === 'nginx' ? ['-c', file, '-e', join(folder, 'error.log')] : ['-f', file, '-DFOREGROUND']]
}

/** Runs `work` while a web server stores files in an empty folder over WebDAV. It flushes and hashes nothing. */
export async function withWebServer<T>(
  workspace: Workspace,
  program: Program,
  work: (server: WebServer) => Promise<T>,
): Promise<T> {
  const folder = workspace.folder(program)
  const files = join(folder, 'files')
  for (const path of [files, join(folder, 'body')]) makeFolderForAll(path)
  // Apache never serves as root, so it must be able to enter the folder as another user.
  for (const path of [folder, dirname(folder)]) chmodSync(path, 0o711)
  const port = await freePort()
  return withProgram(workspace, ...commandOf(program, folder, port), async () => {
    const url = `http://127.0.0.1:${port}`
    await answering(url)
    return work({ url, files })
  })
}
