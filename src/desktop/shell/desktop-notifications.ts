import { computed, signal } from '@preact/signals'
import { toast } from '../kit/toast.tsx'

export interface DesktopNotification {
  id: number
  /** The app that said it. */
  slug: string
  title: string
  text: string
  /** What that app is asked to show where somebody follows the notice. */
  path: string
  at: number
  isRead: boolean
}

const MAX_NOTIFICATIONS = 50

/** What apps said, newest first. */
export const notifications = signal<readonly DesktopNotification[]>([])
export const unreadCount = computed(() => notifications.value.filter(({ isRead }) => !isRead).length)

let lastId = 0

export function notify(slug: string, title: string, text: string, path = '/'): void {
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
  toast(notification.text === '' ? notification.title : `${notification.title}: ${notification.text}`)
}

export function markAllRead(): void {
  if (unreadCount.value > 0)
    notifications.value = notifications.value.map((notification) => ({ ...notification, isRead: true }))
}

export const clearNotifications = (): void => void (notifications.value = [])
