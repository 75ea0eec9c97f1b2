const KEY = 'action='

/** Index of the value of the next `action` parameter, or -1. */
function nextAction(url: string, from: number): number {
  for (let at = url.indexOf(KEY, from); at >= 0; at = url.indexOf(KEY, at + KEY.length)) {
    const before = url[at - 1]
    if (before === '?' || before === '&') return at + KEY.length
  }
  return -1
}

/** The `action` of a URL's query: undefined when absent, and empty (matches no route) when given more than once. */
function actionOf(url: string): string | undefined {
  const query = url.indexOf('?')
  const start = query < 0 ? -1 : nextAction(url, query)
  if (start < 0) return undefined
  if (nextAction(url, start) >= 0) return ''
  const next = url.indexOf('&', start)
  const value = next < 0 ? url.slice(start) : url.slice(start, next)
  if (!/[%+]/.test(value)) return value
  try {
    return decodeURIComponent(value.replaceAll('+', ' '))
  } catch {
    return ''
  }
}

/** Routes by `?action=` (a custom constraint of find-my-way). */
export const actionConstraint = {
  name: 'action',
  storage() {
    const routes = new Map<string, unknown>()
    return {
      get: (action: string) => routes.get(action) ?? null,
      set: (action: string, route: unknown) => void routes.set(action, route),
      del: (action: string) => void routes.delete(action),
      empty: () => routes.clear(),
    }
  },
  validate(action: unknown) {
    if (typeof action !== 'string' || !/^[a-z0-9_]+$/.test(action)) throw new TypeError('An action is a word.')
  },
  deriveConstraint: (request: { url?: string }) => actionOf(request.url ?? ''),
  // Routes without an action, including the fallback, match any query.
  mustMatchWhenDerived: false,
}
