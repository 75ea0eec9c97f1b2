import { Type } from 'typebox'
import type { Tool } from './tool.ts'
import { truncated } from './result-text.ts'
import { typedTool } from './typed-tool.ts'

/** A web page as text. */
export interface Page {
  /** URL after redirects. */
  url: string
  title: string | undefined
  text: string
}

/** Fetches a page from the public web, never from a private network. Faults: `bad_request`, `forbidden`, `too_large`, `unsupported_media_type`. */
export type FetchPage = (url: string, signal: AbortSignal) => Promise<Page>

export const fetchTool = (fetchPage: FetchPage): Tool =>
  typedTool({
    name: 'fetch_url',
    description:
      'Reads a page from the public web as plain text: HTML, text, JSON, XML or Markdown up to 2 MiB. Addresses of private networks are refused.',
    parameters: Type.Object({
      url: Type.String({ minLength: 1, maxLength: 4_096, description: 'http:// or https://' }),
    }),
    effect: 'sends',
    untrusted: true,
    async run({ signal }, { url }) {
      const page = await fetchPage(url, signal)
      const head = [page.url, ...(page.title ? [page.title] : [])].join('\n')
      return { text: truncated(`${head}\n\n${page.text || '[the page has no text]'}`) }
    },
  })
