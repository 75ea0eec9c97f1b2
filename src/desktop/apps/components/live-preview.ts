import { effect, signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { current } from './open-component.ts'

/** Milliseconds after the last key until what is written is tried out. */
const PREVIEW_DELAY = 400

/** Name of the component that is tried out on the desktop while it is written. */
export const previewedName = signal<string | undefined>(undefined)

effect(() => {
  const one = current.value
  if (previewedName.value === undefined) return undefined
  if (one?.name !== previewedName.value) {
    previewedName.value = undefined
    bridge.previewComponent(null)
    return undefined
  }
  const { name, kind, code, metadata } = one
  const timer = setTimeout(
    () => bridge.previewComponent({ component_id: name, component_type: kind, code, metadata }),
    bridge.previewState.peek() === undefined ? 0 : PREVIEW_DELAY,
  )
  return () => clearTimeout(timer)
})

/** Begins to try out what is open, or ends it. */
export function togglePreview(name: string): void {
  const isOn = previewedName.peek() === name
  bridge.previewComponent(null)
  previewedName.value = isOn ? undefined : name
}
