import { effect, signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { current } from './opened.ts'

/** Milliseconds after the last key until what is written is tried out. */
const CALM = 400

/** Name of the component that is tried out on the desktop while it is written. */
export const triedName = signal<string | undefined>(undefined)

effect(() => {
  const one = current.value
  if (triedName.value === undefined) return undefined
  if (one?.name !== triedName.value) {
    triedName.value = undefined
    bridge.tryOut(null)
    return undefined
  }
  const { name, kind, code, metadata } = one
  const timer = setTimeout(
    () => bridge.tryOut({ component_id: name, component_type: kind, code, metadata }),
    bridge.trial.peek() === undefined ? 0 : CALM,
  )
  return () => clearTimeout(timer)
})

/** Begins to try out what is open, or ends it. */
export function toggleTrial(name: string): void {
  const isOn = triedName.peek() === name
  bridge.tryOut(null)
  triedName.value = isOn ? undefined : name
}
