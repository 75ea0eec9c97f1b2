import { describeAuth, describeLimit, errorsOf, needsToken, takesDevice, takesSession } from './action-requirements.ts'
import { actions, contract, type AnyAction } from './contract.ts'
import { errors } from './errors.ts'
import { operationId } from './openapi.ts'

interface Schema {
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  format?: string
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  patternProperties?: Record<string, Schema>
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
}

/** A schema in one line: `{id: integer, title: string}[]`. */
function brief(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.anyOf) return schema.anyOf.map(brief).join(' | ')
  if (schema.items) return `${brief(schema.items)}[]`
  const record = schema.patternProperties && Object.values(schema.patternProperties)[0]
  if (record) return `{name: ${brief(record)}}`
  if (schema.properties) {
    const required = new Set(schema.required)
    const fields = Object.entries(schema.properties).map(
      ([name, part]) => `${name}${required.has(name) ? '' : '?'}: ${brief(part)}`,
    )
    return fields.length > 0 ? `{${fields.join(', ')}}` : 'object'
  }
  return schema.format === 'binary' ? 'bytes' : String(schema.type ?? 'any')
}

/** The path of an action, with its name in the query unless it is the default one. */
const addressOf = ({ path, name, byDefault }: AnyAction): string => (byDefault ? path : `${path}?action=${name}`)

interface Field {
  name: string
  type: string
  required: boolean
  note: string
}

function fieldsOf(schema: Schema): Field[] {
  const required = new Set(schema.required)
  return Object.entries(schema.properties ?? {}).map(([name, part]) => ({
    name,
    type: brief(part),
    required: required.has(name),
    note: part.description ?? '',
  }))
}

interface Entry {
  title: string
  action: AnyAction
  parameters: Field[]
  answer: Field[]
  codes: { code: string; status: number; text: string }[]
}

const entries: Entry[] = actions.map((action) => ({
  title: `${action.method} ${addressOf(action)}`,
  action,
  parameters: fieldsOf(action.params as Schema),
  answer: fieldsOf(action.result as Schema),
  codes: errorsOf(action).map((code) => ({ code, status: errors[code][0], text: errors[code][1] })),
}))

const exampleNotes = [
  'In the examples `$SVC_URL` is the address of the server and `$SVC_TOKEN` a device token. Browser sessions keep their',
  'cookie in the file `svc.cookies`; `$SVC_CSRF` is the `csrf_token` that the login answered.',
].join(' ')

/** Credentials of an example: a device token where one will do, otherwise a session. */
function curlCredentials(action: AnyAction): string[] {
  if (action.sameOrigin) return ['-b svc.cookies -c svc.cookies']
  if (takesDevice(action)) return ['-H "Authorization: Bearer $SVC_TOKEN"']
  if (!takesSession(action)) return []
  return ['-b svc.cookies', ...(needsToken(action) ? ['-H "X-CSRF-Token: $SVC_CSRF"'] : [])]
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** The example of an action as a curl command line. */
function curlOf(action: AnyAction): string {
  const parts = ['curl', '-sS', ...curlCredentials(action)]
  const query = new URLSearchParams(action.byDefault ? {} : { action: action.name })
  const values = Object.entries(action.example as Record<string, unknown>)
  if (action.method === 'GET' || action.sends === 'bytes')
    for (const [name, value] of values) query.set(name, String(value))
  else parts.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(action.example))}`)
  if (action.sends === 'bytes') parts.push('--data-binary @hello.txt')
  const search = query.toString()
  parts.push(`"$SVC_URL${action.path}${search && `?${search}`}"`)
  return parts.join(' ')
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

function markdownFields(title: string, fields: Field[]): string[] {
  if (fields.length === 0) return []
  const rows = fields.map(
    ({ name, type, required, note }) =>
      `| \`${name}\`${required ? '' : ' (optional)'} | \`${cell(type)}\` | ${cell(note)} |`,
  )
  return [`| ${title} | Type | |`, '| --- | --- | --- |', ...rows, '']
}

/** The API reference as Markdown; `npm run docs` stores it. */
export function referenceMarkdown(): string {
  const lines = [
    '# API reference',
    '',
    'Made from the declarations in `src/contract`; `npm run docs` updates it.',
    '',
    'An action is called in either of two ways: with its name in the query, `/api/sync/data.php?action=delta`, or below its',
    'endpoint, `/api/sync/data.php/delta`. Both take the same method and credentials and count towards the same rate limit.',
    'In a POST without a name in its address, the JSON body may hold it as `action`. Bodies are JSON objects.',
    'A session is a cookie (`PHPSESSID`); its POSTs carry `X-CSRF-Token`, or `csrf_token` in the body.',
    '',
    exampleNotes,
    '',
  ]
  for (const { path } of Object.values(contract)) {
    lines.push(`## ${path}`, '')
    for (const { title, action, parameters, answer, codes } of entries.filter((entry) => entry.action.path === path)) {
      lines.push(`### ${title}`, '', action.summary, '')
      lines.push(`Credentials: ${describeAuth(action)}. Rate limit: ${describeLimit(action)}.`, '')
      lines.push(...markdownFields('Parameter', parameters), ...markdownFields('Answer', answer))
      lines.push(`Errors: ${codes.map(({ code, status }) => `${status} \`${code}\``).join(', ')}.`, '')
      lines.push('```sh', curlOf(action), '```', '')
    }
  }
  lines.push('## Errors', '', '| Status | Code | Text |', '| --- | --- | --- |')
  for (const [code, [status, text]] of Object.entries(errors)) lines.push(`| ${status} | \`${code}\` | ${cell(text)} |`)
  return `${lines.join('\n')}\n`
}

const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]!)

const code = (text: string): string => `<code>${escape(text)}</code>`

/** Prose whose backticks enclose code. */
const prose = (text: string): string => escape(text).replace(/`([^`]+)`/g, '<code>$1</code>')

function htmlFields(title: string, fields: Field[]): string {
  if (fields.length === 0) return ''
  const rows = fields.map(
    ({ name, type, required, note }) =>
      `<tr><td>${code(name)}${required ? '' : ' <small>optional</small>'}</td><td>${code(type)}</td><td>${prose(note)}</td></tr>`,
  )
  return `<table><thead><tr><th>${title}</th><th>Type</th><th></th></tr></thead><tbody>${rows.join('')}</tbody></table>`
}

const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 16px/1.55 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 6rem; }
h1 { font-size: 1.9rem; } h2 { border-bottom: 1px solid var(--line); margin-top: 3.5rem; padding-bottom: .3rem; }
h3 { font: 600 1rem ui-monospace, monospace; margin-top: 2.2rem; } nav a { display: block; padding: .1rem 0; }
code, pre { background: var(--soft); border-radius: .3rem; font: .875em ui-monospace, monospace; padding: .1em .3em; overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: .8rem 1rem; } a { color: inherit; }
table { border-collapse: collapse; margin: .8rem 0; width: 100%; } small { opacity: .7; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .6rem .35rem 0; text-align: left; vertical-align: top; }
`

/** The API reference as a self-contained web page. */
export function referencePage(version: string): string {
  const nav = entries.map(
    ({ title, action }) => `<a href="#${operationId(action)}">${code(title)} ${prose(action.summary)}</a>`,
  )
  const sections = Object.values(contract).map(({ path }) => {
    const parts = entries
      .filter((entry) => entry.action.path === path)
      .map(
        ({ title, action, parameters, answer, codes }) => `<h3 id="${operationId(action)}">${escape(title)}</h3>
<p>${prose(action.summary)}</p>
<p><small>Credentials: ${prose(describeAuth(action))}. Rate limit: ${prose(describeLimit(action))}.</small></p>
${htmlFields('Parameter', parameters)}${htmlFields('Answer', answer)}
<p>Errors: ${codes.map((one) => `<span title="${escape(one.text)}">${one.status} ${code(one.code)}</span>`).join(', ')}</p>
<pre>${escape(curlOf(action))}</pre>`,
      )
    return `<h2>${escape(path)}</h2>\n${parts.join('\n')}`
  })
  const rows = Object.entries(errors).map(
    ([name, [status, text]]) => `<tr><td>${status}</td><td>${code(name)}</td><td>${prose(text)}</td></tr>`,
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>svc API</title><style>${style}</style></head><body>
<h1>svc API <small>${escape(version)}</small></h1>
<p>An action is called with its name in the query, <code>/api/sync/data.php?action=delta</code>, or below its endpoint,
<code>/api/sync/data.php/delta</code>: both take the same method and credentials and count towards the same rate limit. In a POST
without a name in its address, the body may hold it as <code>action</code>. Bodies are JSON objects. A success has <code>ok: true</code> (the login of sessions <code>success: true</code>); a failure is
<code>{"ok": false, "success": false, "error": "…", "code": "…"}</code>. A session is a cookie (<code>PHPSESSID</code>); its POSTs carry
<code>X-CSRF-Token</code>.</p>
<p>${prose(exampleNotes)}</p>
<p>For programs: <a href="/api/openapi.json">openapi.json</a>.</p>
<nav>${nav.join('')}</nav>
${sections.join('\n')}
<h2>Errors</h2><table><thead><tr><th>Status</th><th>Code</th><th>Text</th></tr></thead><tbody>${rows.join('')}</tbody></table>
</body></html>
`
}
