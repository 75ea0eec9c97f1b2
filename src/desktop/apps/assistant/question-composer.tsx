import { ImagePlus, SendHorizontal, Square, X } from 'lucide'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ASSISTANT_IMAGE, ASSISTANT_MESSAGE } from '../../../contract/limits.ts'
import { IconButton } from '../../kit/button.tsx'
import { formatSize } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { ask, stop } from './requests.ts'
import { release, readPicture, type Picture } from './attached-picture.ts'
import { composerFocusRequests, droppedFiles, write, type Thread } from './store.ts'
import { words } from './words.ts'

/** The image attached to the next question. */
function Attached({ picture, onRemove }: { picture: Picture; onRemove: () => void }) {
  return (
    <div class="attached">
      <img src={picture.url} alt={words('picture', picture.name)} />
      <span>{picture.name}</span>
      <IconButton icon={X} size={16} label={words('remove_picture')} onClick={onRemove} />
    </div>
  )
}

/** The attached image, from pasting, dropping or choosing; one per question. */
function usePicture(setProblem: (problem: string | undefined) => void) {
  const [picture, setPicture] = useState<Picture | undefined>(undefined)
  const latest = useRef(picture)
  latest.current = picture
  const removePicture = (): void => {
    if (latest.current) release(latest.current)
    setPicture(undefined)
  }
  async function attach([file, ...others]: readonly File[]): Promise<void> {
    if (!file) return
    const read = await readPicture(file)
    if (typeof read === 'string') {
      setProblem(read === 'picture_too_large' ? words(read, formatSize(ASSISTANT_IMAGE)) : words(read))
      return
    }
    removePicture()
    setPicture(read)
    setProblem(others.length > 0 ? words('one_picture') : undefined)
  }
  // Files dropped anywhere on the conversation.
  const dropped = droppedFiles.value
  useEffect(() => {
    if (dropped.length === 0) return
    droppedFiles.value = []
    void attach(dropped)
  }, [dropped])
  return { picture, attach, removePicture, take: () => setPicture(undefined) }
}

/** Enter sends, Shift+Enter inserts a line break. While an answer is generated, the button stops it. */
export function QuestionComposer({ thread }: { thread: Thread }) {
  const field = useRef<HTMLTextAreaElement>(null)
  const chooser = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const { picture, attach, removePicture, take } = usePicture(setProblem)
  const id = useId()
  const text = thread.draft.value
  const isBusy = thread.running.value !== undefined

  useEffect(() => {
    setProblem(undefined)
    if (composerFocusRequests.value > 0 || !matchMedia('(hover: none)').matches) field.current?.focus()
  }, [thread, composerFocusRequests.value])
  useLayoutEffect(() => {
    const element = field.current!
    element.style.height = 'auto'
    element.style.height = `${element.scrollHeight + 2}px`
  }, [text])

  function send(): void {
    const message = text.trim() || (picture ? words('look_at_it') : '')
    if (message === '') return
    if (isBusy) return setProblem(words('wait'))
    if (message.length > ASSISTANT_MESSAGE) return setProblem(words('too_long', ASSISTANT_MESSAGE))
    setProblem(undefined)
    thread.draft.value = ''
    take()
    void ask(thread, message, picture)
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.isComposing) return
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) send()
    else if (event.key === 'Escape' && isBusy) stop(thread)
    else return
    event.preventDefault()
  }

  function onPaste(event: ClipboardEvent): void {
    const files = [...(event.clipboardData?.files ?? [])]
    const pasted = event.clipboardData?.getData('text/plain') ?? ''
    if (files.length === 0 && pasted.length <= ASSISTANT_MESSAGE) return
    event.preventDefault()
    if (files.length > 0) void attach(files)
    else setProblem(words('too_long', ASSISTANT_MESSAGE))
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        if (isBusy) stop(thread)
        else send()
      }}
    >
      {problem !== undefined && (
        <p class="problem" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
      {picture && <Attached picture={picture} onRemove={removePicture} />}
      <div class="composer-line">
        <IconButton icon={ImagePlus} label={words('attach')} onClick={() => chooser.current!.click()} />
        <input
          ref={chooser}
          type="file"
          accept="image/png,image/jpeg,image/gif,image/webp"
          hidden
          tabIndex={-1}
          aria-label={words('attach')}
          onChange={({ currentTarget }) => {
            void attach([...(currentTarget.files ?? [])])
            currentTarget.value = ''
          }}
        />
        <textarea
          ref={field}
          rows={1}
          aria-label={words('ask')}
          placeholder={words('ask')}
          aria-invalid={problem !== undefined}
          aria-describedby={problem === undefined ? undefined : `${id}-problem`}
          value={text}
          onInput={({ currentTarget }) => {
            write(thread, currentTarget.value)
            setProblem(undefined)
          }}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <button
          type="submit"
          class="icon-button send"
          aria-label={words(isBusy ? 'stop' : 'send')}
          title={words(isBusy ? 'stop' : 'send')}
        >
          <Icon of={isBusy ? Square : SendHorizontal} />
        </button>
      </div>
    </form>
  )
}
