import { randomHex } from '../../base/random.ts'
import { readItem, storedKeys, writeItem } from './local-storage.ts'
import { user } from './session.ts'

// Every window of an app has its own drafts, so tabs do not overwrite each other's. Drafts of a closed window go to the
// next one that asks for them.

/** Longest key, characters: paths of files are part of them. */
const MAX_KEY_LENGTH = 5_000

/** Windows of this page. */
const openOwners = new Set<string>()

const lockName = (owner: string): string => `svc.drafts.${owner}`

/**
 * Runs something unless the window is open in this tab or another one. Browsers have no locks outside of secure
 * contexts; there, windows of other tabs count as closed.
 */
async function ifClosed(owner: string, run: () => void): Promise<void> {
  if (openOwners.has(owner)) return
  if (!('locks' in navigator)) run()
  else await navigator.locks.request(lockName(owner), { ifAvailable: true }, (lock) => lock && run())
}

/** The drafts of a new window of an app. */
export function openDrafts(slug: string) {
  const owner = randomHex(16)
  openOwners.add(owner)
  let release = (): void => {}
  const closed = new Promise<void>((resolve) => void (release = resolve))
  if ('locks' in navigator) void navigator.locks.request(lockName(owner), () => closed)

  const appPrefix = (): string => `svc.drafts.${user.value?.id}.${slug}.`
  const ownPrefix = (): string => `${appPrefix()}${owner}.`

  /** Takes over a draft of a closed window, unless this one has a newer draft of the same. */
  function take(name: string, key: string): void {
    const own = `${ownPrefix()}${key}`
    if (readItem(own, null) !== null) return
    const text = readItem<string | null>(name, null)
    writeItem(name, undefined)
    writeItem(own, text ?? undefined)
  }

  return {
    /** Stores a draft, or removes it. Returns false if there is no room for it; then the previous one stays. */
    keep(key: unknown, text: unknown): boolean {
      if (typeof key !== 'string' || key.length > MAX_KEY_LENGTH) return false
      return writeItem(`${ownPrefix()}${key}`, typeof text === 'string' ? text : undefined)
    },
    /** The drafts whose keys begin with a text: those of this window, and those of closed ones, which it takes over. */
    async restore(wanted: string): Promise<[key: string, text: string][]> {
      for (const name of storedKeys(appPrefix())) {
        const [closedOwner = '', ...rest] = name.slice(appPrefix().length).split('.')
        const key = rest.join('.')
        if (key.startsWith(wanted)) await ifClosed(closedOwner, () => take(name, key))
      }
      const own = ownPrefix()
      return storedKeys(`${own}${wanted}`).map((name) => [name.slice(own.length), readItem(name, '')])
    },
    close(): void {
      openOwners.delete(owner)
      release()
    },
  }
}
