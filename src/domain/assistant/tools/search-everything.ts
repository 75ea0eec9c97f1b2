import { Type } from 'typebox'
import { searchKinds } from '../../../contract/search.ts'
import type { Search } from '../../search/search.ts'
import { count, truncated } from './result-text.ts'
import type { Tool } from './tool.ts'
import { typedTool } from './typed-tool.ts'

const LIMIT = 30

/** Searches everything of the user by words. */
export const searchEverythingTool = ({ find }: Pick<Search, 'find'>): Tool =>
  typedTool({
    name: 'search',
    description: `Finds everything of the user that contains all words or beginnings of words: ${searchKinds.join(', ')}. Use it first when it is not known where something is. Answers at most ${LIMIT} results with their ids or paths.`,
    parameters: Type.Object({ query: Type.String({ minLength: 1, maxLength: 200 }) }),
    effect: 'reads',
    untrusted: true,
    async run({ account }, { query }) {
      const { results, complete } = await find(account.id, { query, limit: LIMIT })
      const note = complete ? '' : ' [the index is being built: results may be missing]'
      const lines = results.map(({ kind, id, title, snippet, path, room_id }) =>
        [kind, path ?? `${id} ${title}`, ...(kind === 'message' ? [`room ${room_id}`] : []), snippet]
          .filter(Boolean)
          .join('  '),
      )
      return { text: truncated([`${count(results.length, 'result')}${note}`, ...lines].join('\n')) }
    },
  })
