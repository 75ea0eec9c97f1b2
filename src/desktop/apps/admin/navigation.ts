import { signal } from '@preact/signals'

export const pageNames = ['users', 'quotas', 'maintenance', 'backups', 'health', 'audit', 'apps'] as const

export type PageName = (typeof pageNames)[number]

/** The page that is shown; undefined for the list of pages, where there is room for one of both. */
export const openPage = signal<PageName | undefined>('users')
/** The account that is shown on the page of users; undefined for all of them. */
export const openUser = signal<number | undefined>(undefined)

export function showPage(name: PageName | undefined): void {
  openUser.value = undefined
  openPage.value = name
}

export function showUser(id: number): void {
  openUser.value = id
  openPage.value = 'users'
}

/** Goes where a path says: `/audit`, or `/users/17` for one account. */
export function goTo(path: string): void {
  const [, page, id] = /^\/([a-z]+)(?:\/(\d{1,15}))?$/.exec(path) ?? []
  const name = pageNames.find((one) => one === page)
  if (name === 'users' && id !== undefined) showUser(Number(id))
  else if (name !== undefined) showPage(name)
}
