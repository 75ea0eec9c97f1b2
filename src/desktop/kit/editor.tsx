import { useEffect, useRef } from 'preact/hooks'
import { bridge } from './bridge.ts'
import type { EditorProps } from './code-editor.ts'

/** What CodeMirror is, once it is loaded: with the first editor that is shown. */
const loadEditor = () => import('./code-editor.ts')

/** A text editor. What it holds is replaced only when `value` became another one than what was typed. */
export function Editor(props: EditorProps) {
  const container = useRef<HTMLDivElement>(null)
  const editor = useRef<{ replace(value: string): void; destroy(): void } | undefined>(undefined)
  const latest = useRef(props)
  const typed = useRef(props.value)
  latest.current = props
  const typedBefore = typed.current

  useEffect(() => {
    let isUnmounted = false
    void loadEditor().then(({ openEditor }) => {
      if (isUnmounted) return
      typed.current = latest.current.value
      editor.current = openEditor(container.current!, latest.current, (value) => {
        typed.current = value
        latest.current.onInput(value)
      })
    })
    return () => {
      isUnmounted = true
      editor.current?.destroy()
      editor.current = undefined
    }
  }, [props.language, props.readOnly, bridge.theme.value])

  useEffect(() => {
    // An effect runs a while after it was asked for: what was typed since is on its way here, and newer.
    if (props.value === typedBefore || typed.current !== typedBefore) return
    typed.current = props.value
    editor.current?.replace(props.value)
  }, [props.value])

  return <div ref={container} class="editor" />
}
