import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { describeError } from '../../kit/api-error.ts'
import type { Item } from './folder.ts'
import { rename } from './operations.ts'
import { splitName } from './paths.ts'
import { words } from './words.ts'

/** Edits a name in place: Enter confirms, Escape cancels. */
export function RenameField({
  item,
  place,
  onDone,
}: {
  item: Item
  place: { left: string; top: string; width: string }
  onDone: () => void
}) {
  const field = useRef<HTMLInputElement>(null)
  const isDone = useRef(false)
  const [problem, setProblem] = useState<string | undefined>(undefined)

  useLayoutEffect(() => {
    field.current!.focus()
    const end = item.type === 'file' ? splitName(item.name)[0].length : item.name.length
    field.current!.setSelectionRange(0, end)
  }, [])

  async function submit(): Promise<void> {
    const name = field.current!.value
    if (isDone.current) return
    if (name === '' || name === item.name) return leave()
    isDone.current = true
    try {
      await rename(item, name)
      onDone()
    } catch (error) {
      isDone.current = false
      setProblem(describeError(error))
      field.current?.focus()
    }
  }

  function leave(): void {
    isDone.current = true
    onDone()
  }

  return (
    <div class="rename" style={place}>
      <input
        ref={field}
        aria-label={words('new_name')}
        aria-invalid={problem !== undefined}
        aria-describedby={problem && 'rename-problem'}
        defaultValue={item.name}
        maxLength={255}
        spellcheck={false}
        autocapitalize="off"
        onBlur={() => void (problem ? leave() : submit())}
        onKeyDown={(event) => {
          event.stopPropagation()
          if (event.key === 'Enter') void submit()
          if (event.key === 'Escape') leave()
        }}
      />
      {problem && (
        <p class="problem" id="rename-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}
