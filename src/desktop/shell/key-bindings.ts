import { signal } from '@preact/signals'
import { lockDesktop } from './session.ts'
import { confirmAndClose } from './unsaved-guard.ts'
import { updateWindow, front, minimise, cycleWindows, place } from './windows.ts'

export const launcherOpen = signal(false)
export const helpOpen = signal(false)

/** Global shortcuts; they also work while an app has the focus. */
const bindings: Record<string, () => void> = {
  'ctrl+k': () => void (launcherOpen.value = !launcherOpen.value),
  'meta+k': () => void (launcherOpen.value = !launcherOpen.value),
  'ctrl+alt+ArrowLeft': () => front.value && place(front.value.id, 'left'),
  'ctrl+alt+ArrowRight': () => front.value && place(front.value.id, 'right'),
  'ctrl+alt+ArrowUp': () => front.value && place(front.value.id, 'full'),
  'ctrl+alt+ArrowDown': restoreOrMinimise,
  'ctrl+alt+Tab': cycleWindows,
  'ctrl+alt+n': cycleWindows,
  'ctrl+alt+w': () => void (front.value && confirmAndClose(front.value.id)),
  'ctrl+alt+l': () => void lockDesktop(),
  'ctrl+alt+h': () => void (helpOpen.value = !helpOpen.value),
  F6: () => document.querySelector<HTMLElement>('.dock button')?.focus(),
}

function restoreOrMinimise(): void {
  const one = front.value
  if (!one) return
  if (one.place === 'free') minimise(one.id)
  else updateWindow(one.id, { place: 'free' })
}

/** Runs the action of a key; returns whether there is one. */
export function runKeyBinding(key: string): boolean {
  const run = bindings[key]
  run?.()
  return run !== undefined
}
