import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fault } from '../../contract/errors.ts'
import { mimeOf } from '../../domain/files/files.ts'
import { assetHeaders, desktopHeaders, installationHeaders, systemAppHeaders } from '../security-headers.ts'

interface Variant {
  encoding: string | undefined
  bytes: Buffer
}

interface DesktopFile {
  type: string
  etag: string
  /** Smallest first. */
  variants: Variant[]
}

const encodings = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const

async function read(folder: string, path: string): Promise<DesktopFile> {
  const bytes = await readFile(join(folder, path))
  const variants: Variant[] = []
  for (const { name, suffix } of encodings) {
    const file = join(folder, path + suffix)
    if (existsSync(file)) variants.push({ encoding: name, bytes: await readFile(file) })
  }
  const type = mimeOf(path)
  return {
    type: /^text\/|javascript|json$|svg/.test(type) ? `${type}; charset=utf-8` : type,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    variants: [...variants, { encoding: undefined, bytes }],
  }
}

const accepts = (request: FastifyRequest, encoding: string): boolean =>
  new RegExp(`(^|[ ,])${encoding}($|[ ,;])(?! *q=0(\\.0*)?($|[ ,]))`).test(
    String(request.headers['accept-encoding'] ?? ''),
  )

function send(request: FastifyRequest, reply: FastifyReply, file: DesktopFile): FastifyReply {
  void reply.header('etag', file.etag).header('vary', 'accept-encoding')
  if (request.headers['if-none-match']?.includes(file.etag)) return reply.code(304).send()
  const { encoding, bytes } = file.variants.find(({ encoding: name }) => name === undefined || accepts(request, name))!
  if (encoding !== undefined) void reply.header('content-encoding', encoding)
  void reply.type(file.type).header('content-length', bytes.length)
  return reply.send(request.method === 'HEAD' ? undefined : bytes)
}

/** `/`, what it is installed with, the pages of system apps, and assets: public files of the package, cached in memory. */
export async function desktopFiles(app: FastifyInstance, folder: string): Promise<void> {
  if (!existsSync(join(folder, 'index.html'))) return
  const page = await read(folder, 'index.html')
  app.route({
    method: ['GET', 'HEAD'],
    url: '/',
    handler: (request, reply) => send(request, reply.headers(desktopHeaders), page),
  })

  for (const slug of await readdir(join(folder, 'apps'))) {
    const file = await read(folder, `apps/${slug}/index.html`)
    app.route({
      method: ['GET', 'HEAD'],
      url: `/apps/${slug}/index.html`,
      handler: (request, reply) => send(request, reply.headers(systemAppHeaders), file),
    })
  }

  for (const name of (await readdir(join(folder, 'root'))).filter((file) => !/\.(br|gz)$/.test(file))) {
    const file = await read(folder, `root/${name}`)
    app.route({
      method: ['GET', 'HEAD'],
      url: `/${name}`,
      handler: (request, reply) => send(request, reply.headers(installationHeaders), file),
    })
  }

  const assets = new Map<string, Promise<DesktopFile>>()
  const names = new Set((await readdir(join(folder, 'assets'))).filter((name) => !/\.(br|gz)$/.test(name)))
  app.route<{ Params: { name: string } }>({
    method: ['GET', 'HEAD'],
    url: '/assets/:name',
    async handler(request, reply) {
      const { name } = request.params
      if (!names.has(name)) throw fault('not_found')
      const file = assets.get(name) ?? read(folder, `assets/${name}`)
      assets.set(name, file)
      return send(request, reply.headers(assetHeaders), await file)
    },
  })
}
