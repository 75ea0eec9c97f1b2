import { signal } from '@preact/signals'

export const pageNames = ['users', 'quotas', 'maintenance', 'backups', 'health', 'audit', 'apps'] as const

export type PageName = (typeof pageNames)[number]

/** The open page; undefined for the list of pages, on narrow screens. */
export const openPage = signal<PageName | undefined>('users')
/** The account open on the page of users; undefined for the list. */
export const openUser = signal<number | undefined>(undefined)

export function showPage(name: PageName | undefined): void {
  openUser.value = undefined
  openPage.value = name
}

export function showUser(id: number): void {
  openUser.value = id
  openPage.value = 'users'
}

/** Opens a path: `/audit`, or `/users/17` for an account. */
export function goTo(path: string): void {
  const [, page, id] = /^\/([a-z]+)(?:\/(\d{1,15}))?$/.exec(path) ?? []
  const name = pageNames.find((one) => one === page)
  if (name === 'users' && id !== undefined) showUser(Number(id))
  else if (name !== undefined) showPage(name)
}
