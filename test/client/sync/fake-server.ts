import type { Api, CallOptions, Downloaded } from '../../../src/client/api.ts'
import { BadTar, readTar } from '../../../src/base/tar-reader.ts'
import { fault, isFault } from '../../../src/contract/errors.ts'
import { parentOf, ROOT } from '../../../src/client/sync/plan/sync-tree.ts'
import { tarOf, type Packed } from '../../support/tar.ts'
import { sha256Of } from './trees.ts'

interface Stored {
  content: Buffer
  mtime: number
  version: number
}

type Query = Record<string, unknown>

const byPath = ([a]: unknown[], [b]: unknown[]): number => (String(a) < String(b) ? -1 : 1)

/** Something to go wrong: it sees each request before the server does, and may throw, answer itself, or change the world. */
export type Mischief = (action: string, params: Query, server: FakeServer) => unknown

/** Everything that a server offers beyond the bare interface. */
export const everything = {
  upload_batch: { max_entries: 1_000, max_bytes: 64 * 1_048_576 },
  download_batch: { max_entries: 1_000 },
  files_batch: { max_operations: 500, if_empty: true },
  download_range: true,
}

/** An account in memory that keeps to the contract where the engine can see it, and lets a test make it misbehave. */
export class FakeServer {
  files = new Map<string, Stored>()
  folders = new Set<string>()
  serverId = 'server-1'
  epoch = 'epoch-1'
  userId = 7
  limits: Record<string, { max: number; per: number }> = {}
  /** What it announces beyond the bare interface. */
  features: Record<string, unknown> = {}
  /** Every request, in order. */
  log: string[] = []
  mischief: Mischief | undefined
  #seq = 1
  /** Rows of the feed by path, and where each row, or its end, stands in it. */
  #rows = new Map<string, { id: number; stamp: string }>()
  #changes = new Map<number, { seq: number; row: object | undefined }>()
  #ids = 0
  /** Cursors before this one have expired. */
  oldest = 0

  put(path: string, content: string | Buffer, mtime = 1_600_000_000): void {
    const bytes = Buffer.from(content)
    this.files.set(path, { content: bytes, mtime, version: (this.files.get(path)?.version ?? 0) + 1 })
    this.#makeOver(path)
    this.#seq += 1
  }

  mkdir(path: string): void {
    this.folders.add(path)
    this.#makeOver(path)
    this.#seq += 1
  }

  /** Deletes as another client would. */
  remove(path: string): void {
    this.files.delete(path)
    this.folders.delete(path)
    for (const each of this.files.keys()) if (each.startsWith(`${path}/`)) this.files.delete(each)
    for (const each of this.folders) if (each.startsWith(`${path}/`)) this.folders.delete(each)
    this.#seq += 1
  }

  /** Moves as another client would: a file, or a folder with everything in it. */
  rename(from: string, to: string): void {
    for (const [path, stored] of Array.from(this.files)) {
      if (path !== from && !path.startsWith(`${from}/`)) continue
      this.files.delete(path)
      this.files.set(to + path.slice(from.length), stored)
    }
    for (const path of Array.from(this.folders)) {
      if (path !== from && !path.startsWith(`${from}/`)) continue
      this.folders.delete(path)
      this.folders.add(to + path.slice(from.length))
    }
    this.#makeOver(to)
    this.#seq += 1
  }

  text(path: string): string | undefined {
    return this.files.get(path)?.content.toString()
  }

  /** Files with their contents, and folders as null, like a folder read by `readTree`. */
  tree(): Record<string, string | null> {
    const folders = [...this.folders].map((path): [string, null] => [path, null])
    return Object.fromEntries(
      [...folders, ...[...this.files].map(([path, { content }]) => [path, content.toString()])].sort(byPath),
    )
  }

  requests(action?: string): number {
    return action ? this.log.filter((line) => line.split(' ')[0] === action).length : this.log.length
  }

  #makeOver(path: string): void {
    for (let at = parentOf(path); at !== ROOT; at = parentOf(at)) this.folders.add(at)
  }

  /** Writes into the feed what changed since it was last looked at, deletions last. */
  #digest(): void {
    if (this.features['files_feed'] !== true) return
    const idOf = (path: string): number | null => this.#rows.get(path)?.id ?? null
    const paths = [...this.folders, ...this.files.keys()].sort()
    for (const path of paths) {
      const file = this.files.get(path)
      const type = file ? 'file' : 'directory'
      const stamp = file ? `${sha256Of(file.content)} ${file.mtime}` : type
      const before = this.#rows.get(path)
      if (before?.stamp === stamp) continue
      const id = before?.id ?? (this.#ids += 1)
      this.#rows.set(path, { id, stamp })
      const content = file && { size: file.content.length, sha256: sha256Of(file.content), mtime: file.mtime }
      const name = path.slice(path.lastIndexOf('/') + 1)
      this.#changes.set(id, {
        seq: (this.#seq += 1),
        row: { id, parent_id: idOf(parentOf(path)), name, type, ...content },
      })
    }
    for (const [path, { id }] of this.#rows) {
      if (this.files.has(path) || this.folders.has(path)) continue
      this.#rows.delete(path)
      this.#changes.set(id, { seq: (this.#seq += 1), row: undefined })
    }
  }

  #since(cursor: number, limit: number): object {
    const { epoch, serverId: server_id } = this
    if (cursor > this.#seq) throw fault('epoch_mismatch')
    if (cursor < this.oldest) throw fault('cursor_expired')
    const all = [...this.#changes].filter(([, { seq }]) => seq > cursor).sort(([, a], [, b]) => a.seq - b.seq)
    const page = all.slice(0, limit)
    const changes = page.map(([id, { seq, row }]) => ({
      table: 'svc_files',
      operation: row ? 'UPDATE' : 'DELETE',
      data: row ?? { id },
      cursor: seq,
    }))
    const more = page.length < all.length
    const end = more ? page.at(-1)![1].seq : this.#seq
    return { ok: true, changes, cursor: end, has_more: more, count: changes.length, epoch, server_id }
  }

  #everything(): object {
    const rows = [...this.#changes.values()].flatMap(({ row }) => (row ? [row] : []))
    const { epoch, serverId: server_id } = this
    return { ok: true, data: { svc_files: rows }, cursor: this.#seq, schema_version: 1, epoch, server_id }
  }

  #manifest(): object {
    const files = [...this.files].map(([path, { content, mtime }]) => ({
      path,
      size: content.length,
      sha256: sha256Of(content),
      mtime,
    }))
    return {
      ok: true,
      files,
      directories: [...this.folders],
      cursor: this.#seq,
      epoch: this.epoch,
      server_id: this.serverId,
    }
  }

  #answer(action: string, params: Query, body: Buffer): unknown {
    const path = String(params['path'])
    const file = this.files.get(path)
    this.#digest()
    switch (action) {
      case 'delta':
        if (params['epoch'] !== undefined && params['epoch'] !== this.epoch) throw fault('epoch_mismatch')
        return this.#since(Number(params['cursor']), Number(params['limit']))
      case 'initial_sync':
        return this.#everything()
      case 'validate':
        return {
          ok: true,
          user: { id: this.userId, username: 'ada', display_name: 'Ada' },
          device: { token_id: 1, device_id: 'd', device_name: 'Laptop' },
          expires_at: null,
        }
      case 'capabilities':
        return {
          ok: true,
          server_id: this.serverId,
          epoch: this.epoch,
          features: this.features,
          limits: this.limits,
          retention: { tombstones_days: 180, versions_days: 30 },
        }
      case 'upload': {
        if (this.folders.has(path)) throw fault('exists')
        const current = file
          ? { sha256: sha256Of(file.content), size: file.content.length, mtime: file.mtime, version: file.version }
          : null
        const met =
          (params['if_absent'] !== true || !file) &&
          (params['if_sha256'] === undefined || params['if_sha256'] === current?.sha256)
        if (!met) throw fault('precondition_failed', { fields: { current } })
        this.put(path, body, Number(params['mtime'] ?? 1))
        return {
          ok: true,
          path,
          size: body.length,
          sha256: sha256Of(body),
          mtime: Number(params['mtime'] ?? 1),
          version: 1,
          cursor: this.#seq,
        }
      }
      case 'delete': {
        if (params['if_sha256'] !== undefined && file && sha256Of(file.content) !== params['if_sha256'])
          throw fault('precondition_failed')
        const holds = [...this.files.keys(), ...this.folders].some((each) => each.startsWith(`${path}/`))
        if (params['if_empty'] && holds) throw fault('not_empty')
        if (!file && !this.folders.has(path)) return { ok: true, path, already_deleted: true }
        this.remove(path)
        return { ok: true, path, deleted: true }
      }
      case 'mkdir':
        if (file) throw fault('exists')
        this.mkdir(path)
        return { ok: true, path, created: true }
      case 'files_batch': {
        const operations = params['operations'] as Query[]
        return { ok: true, results: operations.map((each, index) => this.#one(index, String(each['op']), each)) }
      }
      case 'move': {
        const [from, to] = [String(params['from']), String(params['to'])]
        const source = this.files.get(from)
        if (!source && !this.folders.has(from)) throw fault('not_found')
        if (params['if_sha256'] !== undefined && (!source || sha256Of(source.content) !== params['if_sha256']))
          throw fault('precondition_failed')
        if (to.startsWith(`${from}/`)) throw fault('bad_request')
        if (this.files.has(to) || this.folders.has(to)) throw fault('exists')
        this.rename(from, to)
        return { ok: true, from, to }
      }
      default:
        throw fault('unknown_action')
    }
  }

  /** One entry of a batch. */
  #one(index: number, action: string, params: Query, body = Buffer.alloc(0)): object {
    const path = String(params['path'])
    try {
      const claimed = params['sha256']
      if (claimed !== undefined && claimed !== sha256Of(body)) throw fault('checksum_mismatch')
      this.#answer(action, params, body)
      return { index, path, ok: true, status: 200 }
    } catch (error) {
      if (!isFault(error)) throw error
      const { code, status, message, extra } = error
      return { index, path, ok: false, status, code, error: message, ...extra.fields }
    }
  }

  async #unpack(archive: Buffer): Promise<object> {
    const results: object[] = []
    async function* pieces() {
      yield await Promise.resolve(archive)
    }
    try {
      for await (const { name, mtime, keys, body } of readTar(pieces())) {
        const parts: Uint8Array[] = []
        for await (const part of body) parts.push(part)
        const condition = keys.get('SVC.if_sha256')
        const params = {
          path: `/${name}`,
          mtime,
          sha256: keys.get('SVC.sha256'),
          ...(condition === 'absent' ? { if_absent: true } : { if_sha256: condition }),
        }
        results.push(this.#one(results.length, 'upload', params, Buffer.concat(parts)))
      }
    } catch (error) {
      if (error instanceof BadTar) throw fault('bad_request', { text: error.message, fields: { results } })
      throw error
    }
    return { ok: true, results, cursor: this.#seq }
  }

  #pack(paths: string[]): Buffer {
    const lost = paths.filter((path) => !this.files.has(path))
    const found = paths.filter((path) => this.files.has(path)).map((path) => this.entry(path))
    const end = { count: found.length, errors: lost.map((path) => ({ path, code: 'not_found' })) }
    return tarOf(...found, { name: '.svc-end.json', content: JSON.stringify(end), mtime: 0 })
  }

  /** A file as it stands in an archive. */
  entry(path: string): Packed {
    const { content, mtime } = this.files.get(path)!
    return { name: path.slice(1), content, mtime, keys: { 'SVC.sha256': sha256Of(content) } }
  }

  #receive(action: string, params: Query, headers: Record<string, string>): Downloaded {
    const send = (body: Buffer, more: Record<string, string>): Downloaded => ({
      status: 200,
      headers: { 'content-length': String(body.length), ...more },
      body: (async function* () {
        await Promise.resolve()
        yield body
      })(),
    })
    this.#digest()
    if (action === 'manifest') {
      const etag = `"${this.epoch}-${this.#seq}"`
      if (headers['if-none-match'] === etag) return { ...send(Buffer.alloc(0), {}), status: 304 }
      return send(Buffer.from(JSON.stringify(this.#manifest())), { 'content-type': 'application/json', etag })
    }
    if (action === 'download_batch') {
      if (this.features['download_batch'] === undefined) throw fault('unknown_action')
      return send(this.#pack(params['paths'] as string[]), { 'content-type': 'application/x-tar' })
    }
    const file = this.files.get(String(params['path']))
    if (!file) throw fault('not_found')
    const from = Number(/^bytes=(\d+)-$/.exec(headers['range'] ?? '')?.[1] ?? Number.NaN)
    const { length } = file.content
    if (from < length && headers['if-range'] === `"${sha256Of(file.content)}"`) {
      const range = {
        'content-range': `bytes ${from}-${length - 1}/${length}`,
        'x-file-sha256': sha256Of(file.content),
      }
      return { ...send(file.content.subarray(from), range), status: 206 }
    }
    return send(file.content, { 'x-file-sha256': sha256Of(file.content), 'x-file-mtime': String(file.mtime) })
  }

  api(): Api {
    const meddle = async (action: string, params: Query, options: CallOptions = {}): Promise<unknown> => {
      options.signal?.throwIfAborted()
      this.log.push([action, params['path'] ?? params['from'], params['to']].filter(Boolean).join(' '))
      return this.mischief?.(action, params, this)
    }
    return {
      url: 'http://127.0.0.1:1',
      call: async (action, params, options) =>
        ((await meddle(action.name, params, options)) ?? this.#answer(action.name, params, Buffer.alloc(0))) as never,
      send: async (action, params, body, _size, options) => {
        const answer = await meddle(action.name, params, options)
        const chunks: Uint8Array[] = []
        if (body instanceof Uint8Array) chunks.push(body)
        else for await (const chunk of body) chunks.push(Buffer.from(chunk))
        const bytes = Buffer.concat(chunks)
        if (answer === undefined && action.name === 'upload_batch') return (await this.#unpack(bytes)) as never
        const claimed = options?.headers?.['x-file-sha256']
        if (claimed !== undefined && claimed !== sha256Of(bytes)) throw fault('checksum_mismatch')
        return (answer ?? this.#answer(action.name, params, bytes)) as never
      },
      receive: async (action, params, options) =>
        ((await meddle(action.name, params, options)) ??
          this.#receive(action.name, params, options?.headers ?? {})) as Downloaded,
      close: () => undefined,
    }
  }
}
