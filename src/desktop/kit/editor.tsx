import { useEffect, useRef } from 'preact/hooks'
import { bridge } from './bridge.ts'
import type { EditorControls, EditorProps } from './code-editor.ts'

const loadEditor = () => import('./code-editor.ts')

/** A text editor. Its text is replaced only if `value` is not what was typed. */
export function Editor(props: EditorProps & { controls?: { current: EditorControls | undefined } }) {
  const container = useRef<HTMLDivElement>(null)
  const editor = useRef<EditorControls | undefined>(undefined)
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
      if (latest.current.controls) latest.current.controls.current = editor.current
    })
    return () => {
      isUnmounted = true
      editor.current?.destroy()
      editor.current = undefined
    }
  }, [props.language, props.readOnly, props.formatted !== undefined && props.formatted !== false, bridge.theme.value])

  useEffect(() => {
    // Effects run late: input typed since then is newer than `value`.
    if (props.value === typedBefore || typed.current !== typedBefore) return
    typed.current = props.value
    editor.current?.replace(props.value)
  }, [props.value])

  return <div ref={container} class="editor" />
}
