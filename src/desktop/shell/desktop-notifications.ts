import { computed, signal } from '@preact/signals'
import { toast } from '../kit/toast.tsx'
import { sourceName } from './app-name.ts'

export interface DesktopNotification {
  id: number
  /** The app that sent it. */
  slug: string
  title: string
  text: string
  /** The path to open in that app. */
  path: string
  at: number
  isRead: boolean
}

const MAX_NOTIFICATIONS = 50

/** Newest first. */
export const notifications = signal<readonly DesktopNotification[]>([])
export const unreadCount = computed(() => notifications.value.filter(({ isRead }) => !isRead).length)

/** Whether the list is open. */
export const listOpen = signal(false)

let lastId = 0

/** Adds a notification to the list; unless `isSilent`, a toast shows it. */
export function notify(slug: string, title: string, text: string, path = '/', { isSilent = false } = {}): void {
  const notification = {
    id: ++lastId,
    slug,
    title: title.slice(0, 200),
    text: text.slice(0, 1_000),
    path,
    at: Date.now(),
    isRead: false,
  }
  notifications.value = [notification, ...notifications.value].slice(0, MAX_NOTIFICATIONS)
  if (isSilent) return
  const said = notification.text === '' ? notification.title : `${notification.title}: ${notification.text}`
  toast(said, { source: sourceName(slug) })
}

export function markAllRead(): void {
  if (unreadCount.value > 0)
    notifications.value = notifications.value.map((notification) => ({ ...notification, isRead: true }))
}

export function markPathRead(slug: string, path: string): void {
  const isUnreadOfPath = (one: DesktopNotification): boolean => !one.isRead && one.slug === slug && one.path === path
  if (notifications.value.some(isUnreadOfPath))
    notifications.value = notifications.value.map((one) => (isUnreadOfPath(one) ? { ...one, isRead: true } : one))
}

export const clearNotifications = (): void => void (notifications.value = [])
