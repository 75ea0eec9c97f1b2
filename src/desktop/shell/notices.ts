import { computed, signal } from '@preact/signals'
import { toast } from '../kit/toast.tsx'

export interface Notice {
  id: number
  /** The app that said it. */
  slug: string
  title: string
  text: string
  /** What that app is asked to show where somebody follows the notice. */
  path: string
  at: number
  seen: boolean
}

const MOST = 50

/** What apps said, newest first. */
export const notices = signal<readonly Notice[]>([])
export const unseen = computed(() => notices.value.filter(({ seen }) => !seen).length)

let lastId = 0

export function notify(slug: string, title: string, text: string, path = '/'): void {
  const notice = {
    id: ++lastId,
    slug,
    title: title.slice(0, 200),
    text: text.slice(0, 1_000),
    path,
    at: Date.now(),
    seen: false,
  }
  notices.value = [notice, ...notices.value].slice(0, MOST)
  toast(notice.text === '' ? notice.title : `${notice.title}: ${notice.text}`)
}

export function seeAll(): void {
  if (unseen.value > 0) notices.value = notices.value.map((notice) => ({ ...notice, seen: true }))
}

export const forgetAll = (): void => void (notices.value = [])
