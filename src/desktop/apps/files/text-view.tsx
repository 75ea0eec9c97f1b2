import { printable } from '../../../base/text.ts'
import { Eye, FileQuestion, Pencil, Save } from 'lucide'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { Banner } from '../../kit/banner.tsx'
import { Button } from '../../kit/button.tsx'
import { Editor } from '../../kit/editor.tsx'
import { useKeys } from '../../kit/keys.ts'
import { Markdown } from '../../kit/markdown.tsx'
import { EmptyState, Loading } from '../../kit/empty-state.tsx'
import { toast, toastError } from '../../kit/toast.tsx'
import { describeError } from '../../kit/api-error.ts'
import { common } from '../../kit/words.ts'
import { nameOf } from './paths.ts'
import { openText, type TextFile } from './text-file.ts'
import { words } from './words.ts'

/** Shows a conflict and its resolutions. */
function Conflict({ file }: { file: TextFile }) {
  const [isShown, setShown] = useState(false)
  const theirs = file.theirs.value
  if (theirs === undefined) return null
  const beside = () => file.saveAsCopy().then((path) => toast(words('saved_beside', nameOf(path))), toastError)
  return (
    <div class="conflict" role="alert">
      <p>{words(theirs ? 'changed_elsewhere' : 'deleted_elsewhere')}</p>
      <Button onClick={() => void beside()}>{words('save_beside')}</Button>
      <Button onClick={() => void file.overwrite()}>{words(theirs ? 'overwrite' : 'save_again')}</Button>
      {theirs && <Button onClick={file.takeTheirs}>{words('take_theirs')}</Button>}
      {theirs && (
        <Button kind="quiet" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
          {words('show_theirs')}
        </Button>
      )}
      {theirs && isShown && <pre tabIndex={0}>{theirs.content}</pre>}
    </div>
  )
}

function State({ file }: { file: TextFile }) {
  const text = file.isSaving.value ? 'saving' : file.isDirty.value ? 'unsaved' : 'saved'
  return (
    <span class="state" role="status">
      {words(text)}
    </span>
  )
}

export function TextView({ path, isMarkdown }: { path: string; isMarkdown: boolean }) {
  const file = useMemo(() => openText(path), [path])
  const [isPreview, setPreview] = useState(isMarkdown)
  useEffect(() => file.close, [file])
  useKeys((event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 's') return
    event.preventDefault()
    void file.save()
  })

  const content = file.content.value
  if (file.loadError.value !== undefined)
    return (
      <EmptyState icon={FileQuestion} title={describeError(file.loadError.value)}>
        <Button onClick={() => void file.load()}>{common('retry')}</Button>
      </EmptyState>
    )
  if (content === undefined) return <Loading />
  return (
    <>
      <div class="text-bar">
        <State file={file} />
        <span class="space" />
        {isMarkdown && (
          <Button kind="quiet" icon={isPreview ? Pencil : Eye} onClick={() => setPreview(!isPreview)}>
            {words(isPreview ? 'edit' : 'formatted')}
          </Button>
        )}
        <Button
          kind="main"
          icon={Save}
          busy={file.isSaving.value}
          disabled={!file.isDirty.value || file.theirs.value !== undefined}
          onClick={() => void file.save()}
        >
          {common('save')}
        </Button>
      </div>
      {file.saveError.value !== undefined && <Banner tone="bad">{describeError(file.saveError.value)}</Banner>}
      <Conflict file={file} />
      {isPreview ? (
        <div class="text-shown" tabIndex={0}>
          <Markdown text={content} />
        </div>
      ) : (
        <Editor
          label={words('text_of', printable(nameOf(path)))}
          language={isMarkdown ? 'markdown' : 'text'}
          value={content}
          onInput={file.write}
        />
      )}
    </>
  )
}
