import { type EditorView, WidgetType } from '@codemirror/view'
import { renderMarkdown } from '../markdown.tsx'

/** The point of a list. */
export class Bullet extends WidgetType {
  override eq(): boolean {
    return true
  }
  toDOM(): HTMLElement {
    const bullet = document.createElement('span')
    bullet.className = 'bullet'
    bullet.textContent = '•'
    return bullet
  }
}

/** The box of a task; a click changes the Markdown. */
export class TaskBox extends WidgetType {
  private readonly isDone: boolean
  private readonly label: string
  private readonly isReadOnly: boolean
  /** `label` is the accessible name: the text of the task. */
  constructor(isDone: boolean, label: string, isReadOnly: boolean) {
    super()
    this.isDone = isDone
    this.label = label
    this.isReadOnly = isReadOnly
  }
  override eq(other: TaskBox): boolean {
    return other.isDone === this.isDone && other.label === this.label && other.isReadOnly === this.isReadOnly
  }
  toDOM(view: EditorView): HTMLElement {
    const box = document.createElement('input')
    box.type = 'checkbox'
    box.className = 'task-box'
    box.checked = this.isDone
    box.disabled = this.isReadOnly
    box.ariaLabel = this.label
    box.addEventListener('change', () => toggleTask(view, view.posAtDOM(box)))
    return box
  }
  override ignoreEvent(): boolean {
    return true
  }
}

/** Changes `[ ]` at a position to `[x]`, and back. Returns whether there was one. */
export function toggleTask(view: EditorView, position: number): boolean {
  const marker = view.state.sliceDoc(position, position + 3)
  if (!/^\[[ xX]\]$/.test(marker) || view.state.readOnly) return false
  view.dispatch({
    changes: { from: position + 1, to: position + 2, insert: marker[1] === ' ' ? 'x' : ' ' },
    userEvent: 'input.task',
  })
  return true
}

/** A table or picture as it looks. */
export class Rendered extends WidgetType {
  private readonly text: string
  private readonly isBlock: boolean
  constructor(text: string, isBlock: boolean) {
    super()
    this.text = text
    this.isBlock = isBlock
  }
  override eq(other: Rendered): boolean {
    return other.text === this.text
  }
  toDOM(view: EditorView): HTMLElement {
    const element = document.createElement(this.isBlock ? 'div' : 'span')
    element.className = `markdown rendered ${this.isBlock ? 'is-block' : ''}`
    element.innerHTML = renderMarkdown(this.text)
    element.addEventListener('mousedown', (event) => {
      if (event.target instanceof Element && event.target.closest('a')) return
      event.preventDefault()
      view.focus()
      view.dispatch({ selection: { anchor: view.posAtDOM(element) }, scrollIntoView: true })
    })
    return element
  }
  override ignoreEvent(): boolean {
    return true
  }
}
