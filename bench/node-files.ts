import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { serveUntilEnded } from './until-ended.ts'

async function answer(folder: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = join(folder, request.url!)
  if (request.method === 'PUT') {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    await writeFile(path, Buffer.concat(chunks))
    response.writeHead(201).end()
  } else if (path.endsWith('/')) {
    const names = await readdir(path)
    const entries = await Promise.all(names.map(async (name) => ({ name, size: (await stat(join(path, name))).size })))
    response.setHeader('content-type', 'application/json').end(JSON.stringify(entries))
  } else response.end(await readFile(path))
}

/** What Node itself reaches with files of a folder: no accounts, checks, hashes, flushes or database. */
export async function serveFolder(folder: string, port: number): Promise<void> {
  const server = createServer((request, response) => {
    answer(folder, request, response).catch(() => response.writeHead(500).end())
  })
  await serveUntilEnded(server, port)
}
