import { useEffect, useRef } from 'preact/hooks'
import { bridge } from './bridge.ts'
import type { EditorProps } from './code-editor.ts'

/** What CodeMirror is, once it is loaded: with the first editor that is shown. */
const loaded = () => import('./code-editor.ts')

/** A text editor. Its own value changes only when `value` differs from what was typed last. */
export function Editor(props: EditorProps) {
  const place = useRef<HTMLDivElement>(null)
  const editor = useRef<{ replace(value: string): void; destroy(): void } | undefined>(undefined)
  const latest = useRef(props)
  const typed = useRef(props.value)
  latest.current = props

  useEffect(() => {
    let isGone = false
    void loaded().then(({ openEditor }) => {
      if (isGone) return
      typed.current = latest.current.value
      editor.current = openEditor(place.current!, latest.current, (value) => {
        typed.current = value
        latest.current.onInput(value)
      })
    })
    return () => {
      isGone = true
      editor.current?.destroy()
      editor.current = undefined
    }
  }, [props.language, props.readOnly, bridge.theme.value])

  useEffect(() => {
    if (props.value === typed.current) return
    typed.current = props.value
    editor.current?.replace(props.value)
  }, [props.value])

  return <div ref={place} class="editor" />
}
