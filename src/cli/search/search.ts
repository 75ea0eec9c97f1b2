import { printable } from '../../base/text.ts'
import { search as endpoint, searchKinds, type SearchKind } from '../../contract/search.ts'
import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'

const readKinds = (text: string): SearchKind[] =>
  text.split(',').map((name) => {
    const kind = searchKinds.find((known) => known === name.trim())
    if (!kind) throw usage(`There is no kind "${name}": it is one of ${searchKinds.join(', ')}.`)
    return kind
  })

export const search = command({
  name: 'search',
  summary: 'Find files, messages and rows by the words in them',
  details:
    'Finds what contains all words, or words that begin with them: files and folders by name, text files of up to 1 MiB by content, and messages, notes, documents, events, contacts, ' +
    'tasks, places and bookmarks by their texts. Case and accents do not matter. What has the words in its title comes first. A change is found ' +
    'after a few seconds.',
  needs: 'server',
  onlyPrints: true,
  args: { text: 'words to search for' },
  flags: {
    kind: flag.text(`only these kinds, separated by commas: ${searchKinds.join(', ')}`, 'KINDS'),
    limit: flag.integer('most results (20 by default)', 'N', 1, 1_000),
  },
  examples: ['svc search invoice', 'svc search "annual report" --kind file,doc', 'svc search ada --limit 100 --json'],
  async run({ io, api, args, flags }) {
    const limit = flags.limit ?? 20
    const params = { query: args.text, ...(flags.kind === undefined ? {} : { kinds: readKinds(flags.kind) }) }
    const page = await api.call(endpoint.actions.find, { ...params, limit })
    while (page.next !== null && page.results.length < limit) {
      const { next, results } = await api.call(endpoint.actions.find, {
        ...params,
        limit: limit - page.results.length,
        cursor: page.next,
      })
      page.results.push(...results)
      page.next = next
    }
    const { results, complete } = page
    if (!complete) io.warn('The search index is being built: results may be missing. Try again later.')
    if (io.json) return io.print('', { results, complete })
    if (results.length === 0) io.info('Nothing was found.')
    for (const { kind, id, title, snippet, path } of results) {
      const detail = snippet === '' ? '' : `\n    ${printable(snippet)}`
      io.print(`${kind} ${printable(path ?? `${id} ${title}`)}${io.paint.dim(detail)}`, undefined)
    }
  },
})
