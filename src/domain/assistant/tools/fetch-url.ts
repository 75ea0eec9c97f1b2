import { Type } from 'typebox'
import type { Tool } from './tool.ts'
import { bounded } from './text.ts'
import { toolOf } from './tool-of.ts'

/** A page as it can be read. */
export interface Page {
  /** Where it was found, after redirects. */
  url: string
  title: string | undefined
  text: string
}

/** Fetches a page from the public web, never from a private network. Faults: `bad_request`, `forbidden`, `too_large`, `unsupported_media_type`. */
export type FetchPage = (url: string, signal: AbortSignal) => Promise<Page>

/** Reads a page of the public web. */
export const fetchTool = (fetchPage: FetchPage): Tool =>
  toolOf({
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
      return { text: bounded(`${head}\n\n${page.text || '[the page has no text]'}`) }
    },
  })
