import { ImagePlus, SendHorizontal, Square, X } from 'lucide'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ASSISTANT_IMAGE, ASSISTANT_MESSAGE } from '../../../contract/limits.ts'
import { IconButton } from '../../kit/button.tsx'
import { formatSize } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { ask, stop } from './asking.ts'
import { forget, readPicture, type Picture } from './picture.ts'
import { composerWanted, pictureFiles, write, type Thread } from './store.ts'
import { words } from './words.ts'

/** The picture that goes with the next question. */
function Attached({ picture, onRemove }: { picture: Picture; onRemove: () => void }) {
  return (
    <div class="attached">
      <img src={picture.url} alt={words('picture', picture.name)} />
      <span>{picture.name}</span>
      <IconButton icon={X} size={16} label={words('remove_picture')} onClick={onRemove} />
    </div>
  )
}

/** Takes a picture from wherever it comes; one goes with a question. */
function usePicture(setFlaw: (flaw: string | undefined) => void) {
  const [picture, setPicture] = useState<Picture | undefined>(undefined)
  const latest = useRef(picture)
  latest.current = picture
  const drop = (): void => {
    if (latest.current) forget(latest.current)
    setPicture(undefined)
  }
  async function attach([file, ...others]: readonly File[]): Promise<void> {
    if (!file) return
    const read = await readPicture(file)
    if (typeof read === 'string') {
      setFlaw(read === 'picture_too_large' ? words(read, formatSize(ASSISTANT_IMAGE)) : words(read))
      return
    }
    drop()
    setPicture(read)
    setFlaw(others.length > 0 ? words('one_picture') : undefined)
  }
  // What is dropped anywhere on the conversation comes by here.
  const dropped = pictureFiles.value
  useEffect(() => {
    if (dropped.length === 0) return
    pictureFiles.value = []
    void attach(dropped)
  }, [dropped])
  return { picture, attach, drop, take: () => setPicture(undefined) }
}

/** Where one writes: Enter sends, with Shift it begins a line; while an answer is made, the same button stops it. */
export function Composer({ thread }: { thread: Thread }) {
  const field = useRef<HTMLTextAreaElement>(null)
  const chooser = useRef<HTMLInputElement>(null)
  const [flaw, setFlaw] = useState<string | undefined>(undefined)
  const { picture, attach, drop, take } = usePicture(setFlaw)
  const id = useId()
  const text = thread.draft.value
  const isBusy = thread.running.value !== undefined

  useEffect(() => {
    setFlaw(undefined)
    if (composerWanted.value > 0 || !matchMedia('(hover: none)').matches) field.current?.focus()
  }, [thread, composerWanted.value])
  useLayoutEffect(() => {
    const element = field.current!
    element.style.height = 'auto'
    element.style.height = `${element.scrollHeight + 2}px`
  }, [text])

  function send(): void {
    const message = text.trim() || (picture ? words('look_at_it') : '')
    if (message === '') return
    if (isBusy) return setFlaw(words('wait'))
    if (message.length > ASSISTANT_MESSAGE) return setFlaw(words('too_long', ASSISTANT_MESSAGE))
    setFlaw(undefined)
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
    else setFlaw(words('too_long', ASSISTANT_MESSAGE))
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
      {flaw !== undefined && (
        <p class="flaw" id={`${id}-flaw`} role="alert">
          {flaw}
        </p>
      )}
      {picture && <Attached picture={picture} onRemove={drop} />}
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
          aria-invalid={flaw !== undefined}
          aria-describedby={flaw === undefined ? undefined : `${id}-flaw`}
          value={text}
          onInput={({ currentTarget }) => {
            write(thread, currentTarget.value)
            setFlaw(undefined)
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
