import { useSignal } from '@preact/signals'
import { Archive, ArchiveRestore, BookOpen, Columns2, type IconNode, Pencil } from 'lucide'
import { useEffect, useRef, useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { IconButton } from '../../kit/button.tsx'
import type { EditorControls } from '../../kit/code-editor.ts'
import { Editor } from '../../kit/editor.tsx'
import { FormatBar } from '../../kit/format-bar.tsx'
import { EntryField } from '../../kit/entry-field.tsx'
import { EntryBar, EntryAlert } from '../../kit/entry-controls.tsx'
import { Markdown } from '../../kit/markdown.tsx'
import { docLinks, entries, folders, parseTags, tagsOf, type Doc } from './store.ts'
import { words } from './words.ts'

const views = [
  ['edit', Pencil],
  ['both', Columns2],
  ['preview', BookOpen],
] as const satisfies readonly (readonly [string, IconNode])[]

/** Delay from input to preview, ms: long texts take a while to render. */
const PREVIEW_DELAY = 150

/** A value delayed until it stops changing. */
function useDebounced<T>(value: T): T {
  const [debounced, setDebounced] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), PREVIEW_DELAY)
    return () => clearTimeout(timer)
  }, [value])
  return debounced
}

function Tags({ doc }: { doc: Doc }) {
  const entered = useSignal<string | undefined>(undefined)
  return (
    <div class="field">
      <label for="doc-tags">{words('tags')}</label>
      <input
        id="doc-tags"
        autocomplete="off"
        maxLength={5_000}
        value={entered.value ?? tagsOf(doc).join(', ')}
        onInput={({ currentTarget }) => {
          entered.value = currentTarget.value
          const tags = parseTags(currentTarget.value)
          entries.write(doc, { tags: tags.length > 0 ? tags : null })
        }}
        onBlur={() => void (entered.value = undefined)}
      />
    </div>
  )
}

/** A document: formatted, its Markdown beside what it looks like, or only to be read. */
export function DocEditor({ doc }: { doc: Doc }) {
  const view = useSignal<(typeof views)[number][0]>('edit')
  const editor = useRef<EditorControls | undefined>(undefined)
  const title = useRef<HTMLInputElement>(null)
  const entryProps = { of: entries, entry: doc }
  const name = doc.title || words('untitled')
  const text = useDebounced(doc.content ?? '')
  useEffect(() => bridge.setTitle(doc.title && `${doc.title} – ${words('docs')}`), [doc.title])
  useEffect(() => {
    if (entries.isNew(doc)) title.current?.focus()
    return () => entries.drafts.flush()
  }, [])
  return (
    <article class="doc" aria-label={name}>
      <EntryBar {...entryProps} name={name}>
        {views.map(([key, icon]) => (
          <IconButton
            key={key}
            icon={icon}
            label={words(key)}
            aria-pressed={view.value === key}
            onClick={() => void (view.value = key)}
          />
        ))}
        <IconButton
          icon={doc.archived ? ArchiveRestore : Archive}
          label={words(doc.archived ? 'unarchive' : 'archive')}
          onClick={() => entries.write(doc, { archived: !doc.archived })}
        />
      </EntryBar>
      <EntryAlert {...entryProps} label={(column) => words(column as 'title')} />
      <div class="doc-head">
        <input
          class="doc-title"
          aria-label={words('title')}
          placeholder={words('title')}
          maxLength={500}
          value={doc.title}
          ref={title}
          onInput={({ currentTarget }) => entries.write(doc, { title: currentTarget.value })}
        />
        <div class="two">
          <EntryField {...entryProps} name="folder" label={words('folder')} list="doc-folders" autocomplete="off" />
          <Tags doc={doc} />
        </div>
        <datalist id="doc-folders">
          {folders.value.map((folder) => (
            <option key={folder} value={folder} />
          ))}
        </datalist>
      </div>
      {view.value !== 'preview' && <FormatBar editor={editor} />}
      <div class={`doc-body view-${view.value}`}>
        {view.value !== 'preview' && (
          <Editor
            label={words('text')}
            placeholder={words('write')}
            value={doc.content ?? ''}
            formatted={view.value === 'edit' && docLinks}
            controls={editor}
            onInput={(content) => entries.write(doc, { content })}
          />
        )}
        {view.value !== 'edit' && (
          <div class="doc-preview" tabIndex={0} role="region" aria-label={words('preview')}>
            <Markdown text={text} />
          </div>
        )}
      </div>
    </article>
  )
}
