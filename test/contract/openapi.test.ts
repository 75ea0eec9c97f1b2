import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { openApi } from '../../src/contract/openapi.ts'
import { PASSWORD } from '../support/browser.ts'
import { serverOfFile } from '../support/server.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const server = await serverOfFile()

type Document = Record<string, unknown>

/** The part of the packages that is used here. */
interface Linter {
  createConfig(config: { extends: string[] }): Promise<unknown>
  lintFromString(options: {
    source: string
    config: unknown
  }): Promise<{ ruleId: string; message: string; location: { pointer?: string }[] }[]>
}
interface Standard {
  Validator: new () => { validate(document: object): Promise<{ valid: boolean }> }
}
interface Generator {
  default(document: object): Promise<unknown>
  astToString(tree: unknown): string
}
const load = async <T>(name: string): Promise<T> => (await import(name)) as T
const { createConfig, lintFromString } = await load<Linter>('@redocly/openapi-core')
const { Validator } = await load<Standard>('@seriousme/openapi-schema-validator')
const { default: openapiTypescript, astToString } = await load<Generator>('openapi-typescript')

const copyOf = (document: object): Document => JSON.parse(JSON.stringify(document)) as Document

/** What Redocly's recommended rules say of a document, warnings too. */
async function lint(document: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${String(location[0]?.pointer)})`)
}

test('no rule of a linter and no part of the standard is broken by the OpenAPI document', async () => {
  const document = openApi('1.2.3', 'https://desk.example')
  expect(await lint(document)).toEqual([])
  expect(await new Validator().validate(copyOf(document))).toMatchObject({ valid: true })
})

test('a document with a query in a path, or without what it refers to, is told by both checks', async () => {
  const document = copyOf(openApi('1.2.3'))
  const paths = document['paths'] as Document
  document['paths'] = { '/api/sync/data.php?action=delta': paths['/api/sync/data.php/delta'], ...paths }
  expect((await lint(document)).join('\n')).toContain('path-not-include-query')
  expect(await new Validator().validate({ ...copyOf(document), info: {} })).toMatchObject({ valid: false })
})

/** A program as somebody writes it against the interface: what must not compile is marked. */
const PROGRAM = `
import createClient, { type Middleware } from 'openapi-fetch'
import type { paths } from './api'

export async function program(baseUrl: string, username: string, password: string) {
  const client = createClient<paths>({ baseUrl })
  const login = await client.POST('/api/sync/auth.php/login', {
    body: { username, password, device_name: 'Program', device_id: 'program-0001' },
  })
  const token: string | undefined = login.data?.token
  client.use({ onRequest: ({ request }) => void request.headers.set('authorization', 'Bearer ' + token) } satisfies Middleware)

  const { data: pushed } = await client.POST('/api/sync/data.php/push', {
    body: { operations: [{ table: 'svc_notes', operation: 'INSERT', data: { title: 'Milk' } }] },
  })
  const id: number | null | undefined = pushed?.results[0]?.id
  const { data: page } = await client.GET('/api/sync/data.php/delta', { params: { query: { cursor: 0, limit: 10 } } })
  const tables = page?.changes.map((change) => change.table)

  const upload = (headers: { 'If-None-Match'?: '*' }) =>
    client.POST('/api/sync/files.php/upload', {
      params: { query: { path: '/hello.txt' }, header: headers },
      body: 'hello',
      bodySerializer: (body) => body,
      headers: { 'content-type': 'application/octet-stream' },
    })
  const stored = await upload({})
  const sha256: string | undefined = stored.data?.sha256
  const refused = await upload({ 'If-None-Match': '*' })
  const current = refused.error?.code === 'precondition_failed' ? refused.error.current?.size : undefined
  const { data: text } = await client.GET('/api/sync/files.php/download', {
    params: { query: { path: '/hello.txt' } },
    parseAs: 'text',
  })

  // @ts-expect-error A required parameter is missing.
  const missing = await client.GET('/api/sync/data.php/delta', { params: { query: {} } })
  const code = missing.error?.code
  // @ts-expect-error No action has this name.
  await client.GET('/api/sync/data.php/nothing', {})
  // @ts-expect-error The answer has no such field.
  const nothing: unknown = page?.nothing

  return { id, tables, sha256, current, text, code, nothing }
}
`

test('a client generated from the OpenAPI document is type-checked and signs in, pushes, reads and uploads', async () => {
  const folder = join(root, 'node_modules', '.cache', 'generated-client')
  await mkdir(folder, { recursive: true })
  const document = (await server.send('/api/openapi.json')).json
  await writeFile(join(folder, 'api.d.ts'), astToString(await openapiTypescript(document)))
  await writeFile(join(folder, 'program.ts'), PROGRAM)
  const options = { strict: true, module: 'esnext', moduleResolution: 'bundler', target: 'es2023', noEmit: true }
  const compilerOptions = { ...options, lib: ['es2023', 'dom'], types: [], skipLibCheck: false }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }))
  const compiler = join(root, 'node_modules/typescript-native/bin/tsc')
  const { stdout } = await run(process.execPath, [compiler, '-p', folder]).catch((error: { stdout: string }) => error)
  expect(stdout).toBe('')

  const outfile = join(folder, 'program.mjs')
  await build({ entryPoints: [join(folder, 'program.ts')], outfile, bundle: true, format: 'esm', platform: 'node' })
  const { program } = (await import(pathToFileURL(outfile).href)) as {
    program: (url: string, username: string, password: string) => Promise<unknown>
  }
  const { username } = await server.local.domain.accounts.create({ username: 'ada', password: PASSWORD, role: 'user' })
  expect(await program(server.url, username, PASSWORD)).toEqual({
    id: 1,
    tables: ['svc_notes'],
    sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
    current: 5,
    text: 'hello',
    code: 'bad_request',
    nothing: undefined,
  })
})
