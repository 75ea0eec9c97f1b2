import { syntaxTree } from '@codemirror/language'
import type { EditorState, Range } from '@codemirror/state'
import { Decoration, type EditorView } from '@codemirror/view'
import type { SyntaxNode, SyntaxNodeRef } from '@lezer/common'
import { isActive } from './active-range.ts'
import { MAX_TABLE } from './tables.ts'
import { Bullet, Rendered, TaskBox } from './widgets.ts'

/** What rendering a node adds: hidden marks, and the looks of lines and ranges. */
interface Drawing {
  state: EditorState
  add(...decorations: Range<Decoration>[]): void
}

const hidden = Decoration.replace({})
const bullet = Decoration.replace({ widget: new Bullet() })
const lineOf = (name: string) => Decoration.line({ class: name })
const headingOf = (level: string) =>
  Decoration.line({ class: `heading heading-${level}`, attributes: { role: 'heading', 'aria-level': level } })
const markOf = (name: string) => Decoration.mark({ class: name })
const looks = {
  indent: markOf('indent'),
  code: markOf('inline-code'),
  done: markOf('task-done'),
  quote: lineOf('quote'),
  block: lineOf('code-line'),
}

/** Schemes that a click may open. */
const SAFE_LINK = /^(?:https?:|mailto:|tel:)/i

/** Most nodes that are drawn: an endless line is visible as a whole. What follows keeps its Markdown. */
const MAX_NODES = 4_000

/** The decorations of the visible part of a text. */
export function decorationsOf(view: EditorView, isKnownNote: (title: string) => boolean): Range<Decoration>[] {
  const found: Range<Decoration>[] = []
  let visited = 0
  const drawing: Drawing = { state: view.state, add: (...decorations) => void found.push(...decorations) }
  for (const { from, to } of view.visibleRanges) {
    syntaxTree(view.state).iterate({
      from,
      to,
      enter: (node) => ++visited <= MAX_NODES && draw(node, drawing, isKnownNote),
    })
  }
  return found
}

/** Returns false if the children of the node are not drawn. */
function draw(node: SyntaxNodeRef, drawing: Drawing, isKnownNote: (title: string) => boolean): boolean {
  const { name } = node
  const heading = /^(?:ATX|Setext)Heading([1-6])$/.exec(name)
  if (heading) drawLines(node, drawing, headingOf(heading[1]!))
  else if (name === 'Table') return node.to - node.from > MAX_TABLE || isActive(drawing.state, node.from, node.to)
  else if (name === 'Blockquote') drawLines(node, drawing, looks.quote)
  else if (name === 'FencedCode' || name === 'CodeBlock') drawLines(node, drawing, looks.block)
  else if (name === 'InlineCode') drawing.add(looks.code.range(node.from, node.to))
  else if (name === 'HeaderMark' || name === 'QuoteMark') hideLineMark(node, drawing)
  else if (/^(?:Emphasis|Strikethrough|Code)Mark$/.test(name)) hideInlineMark(node, drawing)
  else if (name === 'Escape') hideEscape(node, drawing)
  else if (name === 'HorizontalRule') drawRule(node, drawing)
  else if (name === 'ListMark') drawListMark(node, drawing)
  else if (name === 'TaskMarker') drawTask(node, drawing)
  else if (name === 'Link') drawLink(node, drawing)
  else if (name === 'Image') return drawPicture(node, drawing)
  else if (name === 'NoteLink') drawNoteLink(node, drawing, isKnownNote)
  else if (name === 'URL' && !/^(?:Link|Image|LinkReference)$/.test(node.node.parent?.name ?? '')) {
    drawAddress(node, drawing)
  }
  return true
}

function drawLines({ from, to }: SyntaxNodeRef, { state, add }: Drawing, look: Decoration): void {
  for (let position = from; position <= to;) {
    const line = state.doc.lineAt(position)
    add(look.range(line.from))
    position = line.to + 1
  }
}

/** `#` and `>` are shown in the line of the cursor; the line below a heading stays, for it is a line of its own. */
function hideLineMark({ name, node, from, to }: SyntaxNodeRef, { state, add }: Drawing): void {
  const line = state.doc.lineAt(from)
  if (isActive(state, line.from, line.to)) return
  if (name === 'HeaderMark' && node.parent?.name.startsWith('Setext')) return
  const isClosing = name === 'HeaderMark' && from > (node.parent?.from ?? from)
  const space = /^[ \t]*/.exec(state.sliceDoc(to, line.to))![0].length
  if (isClosing) add(hidden.range(from, to))
  else add(hidden.range(from, Math.min(to + space, line.to)))
}

function hideInlineMark({ node, from, to }: SyntaxNodeRef, { state, add }: Drawing): void {
  const { parent } = node
  if (parent && !isActive(state, parent.from, parent.to)) add(hidden.range(from, to))
}

function hideEscape({ from, to }: SyntaxNodeRef, { state, add }: Drawing): void {
  if (!isActive(state, from, to)) add(hidden.range(from, from + 1))
}

function drawRule({ from, to }: SyntaxNodeRef, { state, add }: Drawing): void {
  if (!isActive(state, from, to)) add(lineOf('rule').range(state.doc.lineAt(from).from), hidden.range(from, to))
}

function drawListMark({ node, from, to }: SyntaxNodeRef, { state, add }: Drawing): void {
  const line = state.doc.lineAt(from)
  const indent = /^\s*/.exec(line.text)![0].length
  add(Decoration.line({ class: 'list-line', attributes: { style: `--indent: ${indent}` } }).range(line.from))
  if (indent > 0) add(looks.indent.range(line.from, line.from + indent))
  if (isActive(state, from, to)) return
  const isTask = node.nextSibling?.name === 'Task'
  if (isTask) add(hidden.range(from, Math.min(node.nextSibling!.from, line.to)))
  else if (node.parent?.parent?.name === 'BulletList') add(bullet.range(from, to))
}

function drawTask({ node, from, to }: SyntaxNodeRef, { state, add }: Drawing): void {
  const { to: end } = node.parent ?? node
  const isDone = state.sliceDoc(from, to) !== '[ ]'
  const label = state.sliceDoc(to, Math.min(end, to + 200)).trim()
  if (!isActive(state, from, to)) {
    add(Decoration.replace({ widget: new TaskBox(isDone, label, state.readOnly) }).range(from, to))
  }
  if (isDone && to + 1 < end) add(looks.done.range(to + 1, end))
}

function drawLink({ node, from, to }: SyntaxNodeRef, { state, add }: Drawing): void {
  const address = node.getChild('URL')
  const [, textEnd] = node.getChildren('LinkMark')
  if (!address || !textEnd || isActive(state, from, to) || isAcrossLines(state, textEnd.from, to)) return
  add(hidden.range(from, from + 1), hidden.range(textEnd.from, to))
  if (from + 1 < textEnd.from) add(linkTo(addressOf(state, address)).range(from + 1, textEnd.from))
}

function drawAddress({ from, to }: SyntaxNodeRef, { state, add }: Drawing): void {
  const address = state.sliceDoc(from, to)
  if (!isActive(state, from, to)) add(linkTo(/^[^@:/]+@/.test(address) ? `mailto:${address}` : address).range(from, to))
}

/** Returns false if it is drawn, and its parts are not. */
function drawPicture({ from, to }: SyntaxNodeRef, { state, add }: Drawing): boolean {
  if (isActive(state, from, to) || isAcrossLines(state, from, to)) return true
  add(Decoration.replace({ widget: new Rendered(state.sliceDoc(from, to), false) }).range(from, to))
  return false
}

function drawNoteLink({ from, to }: SyntaxNodeRef, { state, add }: Drawing, isKnown: (title: string) => boolean): void {
  if (isActive(state, from, to)) return
  const title = state.sliceDoc(from + 2, to - 2)
  const look = Decoration.mark({
    class: `text-link ${isKnown(title) ? '' : 'is-missing'}`,
    attributes: { role: 'link', 'data-note': title },
  })
  add(hidden.range(from, from + 2), look.range(from + 2, to - 2), hidden.range(to - 2, to))
}

function linkTo(address: string): Decoration {
  const href = /^www\./i.test(address) ? `https://${address}` : address
  if (!SAFE_LINK.test(href)) return markOf('text-link')
  return Decoration.mark({ tagName: 'a', class: 'text-link', attributes: { href, title: href } })
}

const addressOf = (state: EditorState, { from, to }: SyntaxNode): string =>
  state.sliceDoc(from, to).replace(/^<|>$/g, '')

/** A view plugin may not replace line breaks. */
const isAcrossLines = (state: EditorState, from: number, to: number): boolean => state.doc.lineAt(from).to < to
