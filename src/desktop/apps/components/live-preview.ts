import { effect, signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { current } from './open-component.ts'

/** Delay from the last input to the preview, ms. */
const PREVIEW_DELAY = 400

/** The component whose draft is previewed on the desktop. */
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

/** Starts or ends the preview of the open component. */
export function togglePreview(name: string): void {
  const isOn = previewedName.peek() === name
  bridge.previewComponent(null)
  previewedName.value = isOn ? undefined : name
}
