import { ArrowLeft, Circle, FileCode, Palette, Pin, Tag, Trash2 } from 'lucide'
import { useEffect, useRef, useState } from 'preact/hooks'
import { problemOf } from '../../kit/autosave.ts'
import { Banner } from '../../kit/banner.tsx'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import type { EditorControls } from '../../kit/code-editor.ts'
import { Editor } from '../../kit/editor.tsx'
import { FormatBar } from '../../kit/format-bar.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Menu } from '../../kit/menu.tsx'
import { Toolbar } from '../../kit/split-view.tsx'
import { toast, toastError } from '../../kit/toast.tsx'
import { common } from '../../kit/words.ts'
import { categories, draftOf, drafts, fieldsOf, noteLinks, open, remove, table, write, type Note } from './store.ts'
import { words } from './words.ts'

const colors = ['red', 'orange', 'green', 'blue', 'violet'] as const

async function confirmAndRemove(note: Note): Promise<void> {
  const title = note.title || words('untitled')
  const isConfirmed = await confirm({
    title: words('delete_title'),
    text: words('delete_text', title),
    action: common('delete'),
    danger: true,
  })
  if (!isConfirmed) return
  try {
    const undo = await remove(note)
    toast(words('deleted'), { action: { label: words('undo'), run: () => void undo().catch(toastError) } })
  } catch (error) {
    toastError(error)
  }
}

/** Shows a conflict and its resolutions. */
function DraftAlert({ note }: { note: Note }) {
  const draft = draftOf(note)
  const [isShown, setShown] = useState(false)
  if (draft?.state !== 'conflict') {
    const problem = draft && problemOf(table, draft)
    return problem === undefined ? null : <Banner tone="bad">{problem}</Banner>
  }
  const { key, theirs } = draft
  return (
    <div class="conflict" role="alert">
      <p>{words(theirs ? 'conflict' : 'gone')}</p>
      <Button
        onClick={() => {
          const kept = drafts.resolve(key, 'mine', fieldsOf(note))
          if (!theirs) open.value = kept
        }}
      >
        {words(theirs ? 'keep_mine' : 'as_new')}
      </Button>
      <Button onClick={() => void drafts.resolve(key, 'theirs')}>
        {theirs ? words('take_theirs') : common('discard')}
      </Button>
      {theirs && (
        <Button kind="quiet" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
          {words('their_text')}
        </Button>
      )}
      {theirs && isShown && (
        <pre tabIndex={0}>
          {theirs.title}
          {'\n\n'}
          {theirs.content}
        </pre>
      )}
    </div>
  )
}

function State({ note }: { note: Note }) {
  const { state, theirs } = draftOf(note) ?? {}
  const isSaved = state === undefined && note.row !== undefined
  const isGone = state === 'conflict' && theirs === undefined
  return (
    <span class="state" role="status">
      {isSaved ? words('saved') : words(isGone ? 'deleted_elsewhere' : state === 'saving' ? 'saving' : 'waiting')}
    </span>
  )
}

function Category({ note }: { note: Note }) {
  return (
    <label class="category">
      <Icon of={Tag} size={15} />
      <input
        aria-label={words('category')}
        placeholder={words('category')}
        list="categories"
        maxLength={500}
        value={note.category ?? ''}
        onInput={({ currentTarget }) => write(note, { category: currentTarget.value || null })}
      />
      <datalist id="categories">
        {categories.value.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </label>
  )
}

/** A note with autosave. */
export function NoteEditor({ note }: { note: Note }) {
  const [isSource, setSource] = useState(false)
  const editor = useRef<EditorControls | undefined>(undefined)
  const title = useRef<HTMLInputElement>(null)
  useEffect(() => bridge.setTitle(note.title === '' ? '' : `${note.title} – ${words('notes')}`), [note.title])
  useEffect(() => {
    if (!note.row && note.title === '') title.current?.focus()
    return () => drafts.flush()
  }, [])

  return (
    <article class={`note ${note.color ? `color-${note.color}` : ''}`} aria-label={note.title || words('untitled')}>
      <Toolbar label={note.title || words('untitled')}>
        <IconButton
          icon={ArrowLeft}
          class="only-narrow"
          label={common('back')}
          onClick={() => void (open.value = undefined)}
        />
        <Category note={note} />
        <span class="space" />
        <State note={note} />
        <IconButton
          icon={FileCode}
          label={words('source')}
          aria-pressed={isSource}
          onClick={() => setSource(!isSource)}
        />
        <Menu
          label={words('color')}
          items={[
            { label: words('none'), checked: !note.color, onSelect: () => write(note, { color: null }) },
            ...colors.map((color) => ({
              label: words(color),
              icon: Circle,
              checked: note.color === color,
              onSelect: () => write(note, { color }),
            })),
          ]}
        >
          <Icon of={Palette} />
        </Menu>
        <IconButton
          icon={Pin}
          label={words('pin')}
          aria-pressed={note.pinned}
          onClick={() => write(note, { pinned: !note.pinned })}
        />
        <IconButton icon={Trash2} label={common('delete')} onClick={() => void confirmAndRemove(note)} />
      </Toolbar>
      <DraftAlert note={note} />
      <input
        class="note-title"
        aria-label={words('title')}
        placeholder={words('title')}
        maxLength={500}
        value={note.title}
        ref={title}
        onInput={({ currentTarget }) => write(note, { title: currentTarget.value })}
      />
      <FormatBar editor={editor} />
      <Editor
        label={words('text')}
        placeholder={words('write')}
        value={note.content ?? ''}
        formatted={!isSource && noteLinks}
        controls={editor}
        onInput={(content) => write(note, { content })}
      />
    </article>
  )
}
