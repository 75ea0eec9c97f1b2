import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { printable } from '../../../base/text.ts'
import { isMentioned } from '../../../client/chat/chat-state.ts'
import { bridge } from '../../kit/bridge.ts'
import { Markdown } from '../../kit/markdown.tsx'
import { useThumbnail } from '../../kit/picture-thumbnail.ts'
import { people } from './store.ts'

const MENTION = /@[\p{L}\p{N}_][\p{L}\p{N}_.-]*/gu

/** Resolves a mention such as `@ada.`: the dot may be part of the name, or end the sentence. */
function nameIn(text: string, names: ReadonlySet<string>): string | undefined {
  for (let name = text; ; name = name.slice(0, -1)) {
    if (names.has(name.slice(1).toLowerCase())) return name
    if (!/[.-]$/.test(name)) return undefined
  }
}

function markMentions(text: string, names: ReadonlySet<string>, own: string): (string | HTMLElement)[] | undefined {
  const parts: (string | HTMLElement)[] = []
  let end = 0
  for (const found of text.matchAll(MENTION)) {
    const before = text[found.index - 1] ?? ' '
    const name = /[\p{L}\p{N}_]/u.test(before) ? undefined : nameIn(found[0], names)
    if (name === undefined) continue
    const mark = document.createElement('span')
    mark.className = isMentioned(name, own) ? 'mention own' : 'mention'
    mark.textContent = name
    parts.push(text.slice(end, found.index), mark)
    end = found.index + name.length
  }
  return end === 0 ? undefined : [...parts, text.slice(end)]
}

/** Highlights mentions, except in code. */
function markNames(container: HTMLElement, names: ReadonlySet<string>, own: string): void {
  const walker = document.createTreeWalker(container, NodeFilter.SHOW_TEXT)
  const texts: Text[] = []
  while (walker.nextNode()) texts.push(walker.currentNode as Text)
  for (const text of texts) {
    if (!text.data.includes('@') || text.parentElement?.closest('code, pre, a, .mention')) continue
    const parts = markMentions(text.data, names, own)
    if (parts) text.replaceWith(...parts)
  }
}

function follow(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a[href]') : null
  const path = /^#file:(\/.*)$/.exec(link?.getAttribute('href') ?? '')?.[1]
  if (path === undefined) return
  event.preventDefault()
  event.stopPropagation()
  bridge.open('files', decoded(path))
}

function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    // Not a valid percent-encoding.
    return path
  }
}

const FILE_LINK = /\[([^\]]*)\]\((\/Teamchat\/[^)\s]+)\)/g

/** Links to room files. File names are link texts, so bidirectional control characters in them are made visible. */
const withFileLinks = (text: string): string =>
  text.replace(FILE_LINK, (_, name: string, path: string) => `[${printable(name)}](#file:${path})`)

const IMAGE = /\.(png|jpe?g|gif|webp|avif|bmp|svg)$/i
/** Pictures of a message that are shown. */
const MAX_PICTURES = 12

/** The images among the linked room files of a message. */
const picturesIn = (text: string): { name: string; path: string }[] =>
  [...text.matchAll(FILE_LINK)]
    .map(([, , path]) => decoded(path!))
    .filter((path) => IMAGE.test(path))
    .slice(0, MAX_PICTURES)
    .map((path) => ({ path, name: printable(path.slice(path.lastIndexOf('/') + 1)) }))

/** A linked image, which opens in the Files app. */
function MessagePicture({ name, path }: { name: string; path: string }) {
  const url = useThumbnail({ path, mime: '' }, 512)
  if (url === null) return null
  return (
    <button type="button" title={name} onClick={() => bridge.open('files', path)}>
      {url === undefined ? <span class="unseen">{name}</span> : <img src={url} alt={name} />}
    </button>
  )
}

/** A message: Markdown with highlighted mentions, and the images that it links to. */
export function MessageText({ text }: { text: string }) {
  const container = useRef<HTMLDivElement>(null)
  const own = bridge.user.value!.username
  useLayoutEffect(() => {
    const names = new Set([own.toLowerCase(), ...people.value.map(({ username }) => username.toLowerCase())])
    markNames(container.current!, names, own)
  }, [text, people.value])
  const pictures = useMemo(() => picturesIn(text), [text])
  return (
    <div ref={container} class="message-text" onClick={follow}>
      <Markdown literal text={withFileLinks(text)} />
      {pictures.length > 0 && (
        <div class="message-pictures">
          {pictures.map((picture) => (
            <MessagePicture key={picture.path} {...picture} />
          ))}
        </div>
      )}
    </div>
  )
}
