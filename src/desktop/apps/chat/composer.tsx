import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Paperclip, Pencil, CornerUpLeft, SendHorizontal, X } from 'lucide'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { formatNumber, formatSize } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { describeError } from '../../kit/api-error.ts'
import { common } from '../../kit/words.ts'
import { authorOf } from './author.ts'
import { Avatar } from './avatar.tsx'
import { completionsOf, prefixAt, type Completion } from './completions.ts'
import { appendLink, updateComposer, composerOf, edit, restore, stop, focusRequests } from './composer-state.ts'
import { EmojiPicker } from './emoji-picker.tsx'
import { lastOwn } from './message-list.tsx'
import { replace } from './message-log.ts'
import { MAX_BYTES, post } from './outbox.ts'
import { plainText } from '../../kit/plain-text.ts'
import { uploadAll, uploads } from './room-files.ts'
import { people, type Person } from './store.ts'
import { words } from './words.ts'

/** Minimum interval between typing notifications, ms. */
const TYPING_EVERY = 4_000
/** Longest text to insert into the field, characters: longer ones make it slow. */
const MAX_PASTED = 100_000
const bytesOf = (text: string): number => new Blob([text]).size

function ComposerContext({ room }: { room: number }) {
  const { replyTo, editing } = composerOf(room)
  const message = editing ?? replyTo
  if (!message) return null
  return (
    <div class="about">
      <Icon of={editing ? Pencil : CornerUpLeft} size={15} />
      <strong>{editing ? words('edit') : words('reply_to', authorOf(message).display_name)}</strong>
      <span>{plainText(message.content)}</span>
      <IconButton
        icon={X}
        size={16}
        label={editing ? common('cancel') : words('stop_reply')}
        onClick={() => stop(room)}
      />
    </div>
  )
}

const Uploads = ({ room }: { room: number }) => (
  <>
    {uploads.value
      .filter((one) => one.room === room)
      .map(({ key, name, percent, stop: end }) => (
        <div key={key} class="about" role="status">
          <Icon of={Paperclip} size={15} />
          <span>{words('uploading', name, percent)}</span>
          <IconButton icon={X} size={16} label={common('cancel')} onClick={end} />
        </div>
      ))}
  </>
)

/** Completion at the cursor: names after `@`, emoji after `:`. */
function useCompletions(text: string, cursor: number | undefined) {
  const [items, setItems] = useState<readonly Completion[]>([])
  const [at, setAt] = useState(0)
  const prefix = cursor === undefined ? undefined : prefixAt(text, cursor)
  const key = prefix ? `${prefix.kind}${prefix.typed}${prefix.from}` : undefined
  const [dismissed, dismiss] = useState<string | undefined>(undefined)
  useEffect(() => {
    let isStale = false
    setAt(0)
    if (!prefix || key === dismissed) setItems([])
    else void completionsOf(prefix).then((found) => isStale || setItems(found))
    return () => void (isStale = true)
  }, [key, dismissed, people.value])
  return { items, at, setAt, prefix, dismiss: () => dismiss(key) }
}

function Completions({
  id,
  items,
  at,
  pick,
}: {
  id: string
  items: readonly Completion[]
  at: number
  pick: (one: Completion) => void
}) {
  if (items.length === 0) return null
  return (
    <div class="completions" role="listbox" id={id} aria-label={words('people')}>
      {items.map((one, index) => (
        <div
          key={one.label + one.text}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === at}
          onPointerDown={(event) => {
            event.preventDefault()
            pick(one)
          }}
        >
          {one.person && <Avatar of={one.person satisfies Person} dot />}
          <span>{one.label}</span>
          {one.person && <small>@{one.person.username}</small>}
        </div>
      ))}
    </div>
  )
}

/** Why a message was not sent, and what the user can do. */
function SendProblem({
  room,
  id,
  text,
  pasted,
  clear,
}: {
  room: number
  id: string
  text: string
  /** Pasted text that is too long to insert. */
  pasted: string | undefined
  clear: () => void
}) {
  const { text: written, editing } = composerOf(room)
  async function sendAsFile(): Promise<void> {
    clear()
    const file = new File([pasted ?? written], words('file_name'), { type: 'text/plain' })
    await uploadAll(room, [file], (link) => {
      const now = composerOf(room)
      // What was written meanwhile stays behind the link.
      if (pasted === undefined && !now.editing && now.text.startsWith(written))
        updateComposer(room, { text: link + now.text.slice(written.length) })
      else appendLink(room, link)
    })
  }
  return (
    <div class="too-long" role="alert">
      <p id={id}>{text}</p>
      {!editing && bytesOf(pasted ?? written) > MAX_BYTES && (
        <Button onClick={() => void sendAsFile()}>{words('as_file')}</Button>
      )}
    </div>
  )
}

/** Sends or edits a message. A message that is too long stays in the field, with alternatives. */
function useSending(room: number, field: { current: HTMLTextAreaElement | null }) {
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const [pasted, setPasted] = useState<string | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const { text, replyTo, editing } = composerOf(room)

  function rejectTooLong(content: string, isPasted = true): void {
    setPasted(isPasted ? content : undefined)
    const [size, most] = [bytesOf(content), formatSize(MAX_BYTES)]
    setProblem(words('too_long', formatSize(size) === most ? `${formatNumber(size)} B` : formatSize(size), most))
  }

  async function send(): Promise<void> {
    const content = text.trim()
    if (content === '' || isBusy) return
    if (bytesOf(content) > MAX_BYTES) return rejectTooLong(content, false)
    if (!editing) {
      post(room, content, replyTo?.message_id)
      updateComposer(room, { text: '', replyTo: undefined })
      return
    }
    setBusy(true)
    try {
      if (content !== editing.content) {
        await bridge.call('teamChat.edit', { message_id: editing.message_id, content })
        replace(room, [{ ...editing, content, edited_at: new Date().toISOString() }])
      }
      stop(room)
    } catch (error) {
      setProblem(describeError(error))
    } finally {
      setBusy(false)
      field.current?.focus()
    }
  }

  const onSubmit = (event: Event): void => {
    event.preventDefault()
    void send()
  }

  return { problem, pasted, setProblem, rejectTooLong, isBusy, send, onSubmit }
}

/** Uploads files and inserts links to them with `put`, or adds them to the draft if the field shows something else then. */
function useAttaching(room: number, field: { current: HTMLElement | null }, put: (link: string) => void) {
  const shownRoom = useRef(room)
  shownRoom.current = room
  const { editing } = composerOf(room)
  return (list: FileList | null | undefined): void => {
    if (!list || list.length === 0) return
    void uploadAll(room, [...list], (link) => {
      const isShown = field.current && shownRoom.current === room && composerOf(room).editing === editing
      if (isShown) put(link)
      else appendLink(room, link)
    })
  }
}

/** Enter sends, Shift+Enter inserts a line break. */
export function Composer({ room, title }: { room: number; title: string }) {
  const field = useRef<HTMLTextAreaElement>(null)
  const chooser = useRef<HTMLInputElement>(null)
  const typedAt = useRef(0)
  const [cursor, setCursor] = useState<number | undefined>(undefined)
  const { problem, pasted, setProblem, rejectTooLong, isBusy, send, onSubmit } = useSending(room, field)
  const id = useId()
  const { text, replyTo, editing } = composerOf(room)
  const completion = useCompletions(text, cursor)
  const attach = useAttaching(room, field, (link) => put(link))
  const { items, at, prefix } = completion

  useEffect(() => void restore(room), [room])
  useEffect(() => {
    setProblem(undefined)
    if (focusRequests.value > 0 || !matchMedia('(hover: none)').matches) field.current?.focus()
  }, [room, focusRequests.value])
  useLayoutEffect(() => {
    const element = field.current!
    element.style.height = 'auto'
    element.style.height = `${element.scrollHeight + 2}px`
  }, [text])

  function write(next: string): void {
    updateComposer(room, { text: next })
    setProblem(undefined)
    if (next === '' || Date.now() - typedAt.current < TYPING_EVERY) return
    typedAt.current = Date.now()
    // Errors do not matter here.
    void bridge.call('teamChat.typing', { room_id: room }).catch(() => undefined)
  }

  /** Inserts a text at the cursor, or replaces the word to complete. */
  function put(inserted: string, from = field.current!.selectionStart, to = field.current!.selectionEnd): void {
    const { text: written } = composerOf(room)
    write(written.slice(0, from) + inserted + written.slice(to))
    const end = from + inserted.length
    requestAnimationFrame(() => {
      field.current?.focus()
      field.current?.setSelectionRange(end, end)
      setCursor(end)
    })
  }

  const pick = (one: Completion) => put(one.text, prefix?.from, prefix?.to)

  function onKeyDown(event: KeyboardEvent): void {
    if (event.isComposing) return
    const isPlain = !event.shiftKey && !event.ctrlKey && !event.altKey && !event.metaKey
    const chosen = items[at]
    if (chosen && isPlain && (event.key === 'Enter' || event.key === 'Tab')) pick(chosen)
    else if (chosen && event.key === 'ArrowDown') completion.setAt((at + 1) % items.length)
    else if (chosen && event.key === 'ArrowUp') completion.setAt((at - 1 + items.length) % items.length)
    else if (chosen && event.key === 'Escape') completion.dismiss()
    else if (event.key === 'Escape' && (editing || replyTo)) stop(room)
    else if (event.key === 'Enter' && !event.shiftKey && !event.altKey) void send()
    else if (event.key === 'ArrowUp' && text === '' && lastOwn(room)) edit(lastOwn(room)!)
    else return
    event.preventDefault()
  }

  return (
    <form class="composer" onSubmit={onSubmit}>
      <Completions id={`${id}-list`} items={items} at={at} pick={pick} />
      <ComposerContext room={room} />
      <Uploads room={room} />
      {problem !== undefined && (
        <SendProblem
          room={room}
          id={`${id}-problem`}
          text={problem}
          pasted={pasted}
          clear={() => setProblem(undefined)}
        />
      )}
      <div class="composer-line">
        <IconButton icon={Paperclip} label={words('attach')} onClick={() => chooser.current!.click()} />
        <input
          ref={chooser}
          type="file"
          multiple
          hidden
          tabIndex={-1}
          aria-label={words('attach')}
          onChange={({ currentTarget }) => {
            attach(currentTarget.files)
            currentTarget.value = ''
          }}
        />
        <textarea
          ref={field}
          rows={1}
          aria-label={words('message_to', title)}
          placeholder={words('message_to', title)}
          aria-invalid={problem !== undefined}
          aria-describedby={problem === undefined ? undefined : `${id}-problem`}
          aria-controls={items.length > 0 ? `${id}-list` : undefined}
          aria-activedescendant={items.length > 0 ? `${id}-list-${at}` : undefined}
          aria-autocomplete="list"
          value={text}
          readOnly={isBusy}
          onInput={({ currentTarget }) => {
            write(currentTarget.value)
            setCursor(currentTarget.selectionStart)
          }}
          onSelect={({ currentTarget }) => setCursor(currentTarget.selectionStart)}
          onBlur={() => setCursor(undefined)}
          onKeyDown={onKeyDown}
          onPaste={(event) => {
            const files = event.clipboardData?.files
            const pasted = event.clipboardData?.getData('text/plain') ?? ''
            if (!files?.length && pasted.length <= MAX_PASTED) return
            event.preventDefault()
            if (files?.length) attach(files)
            else rejectTooLong(pasted)
          }}
        />
        <EmojiPicker label={words('emoji')} onPick={(emoji) => put(emoji)} />
        <button type="submit" class="icon-button send" aria-label={words('send')} title={words('send')}>
          <Icon of={SendHorizontal} />
        </button>
      </div>
    </form>
  )
}
