import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { SmilePlus } from 'lucide'
import { Icon } from '../../kit/icon.tsx'
import { sideOf } from '../../kit/menu.tsx'

const EMOJI = '👍 👎 ❤️ 😂 🙂 😉 😍 🤔 😮 😢 😡 🥳 🎉 🚀 🔥 ✨ 👏 🙏 💪 👀 🤝 👋 💯 ✅ ❌ ⚠️ ❓ 💡 ☕ 🍀 🐛 📌'.split(
  ' ',
)
const COLUMNS = 8

function to(at: number, key: string): number | undefined {
  return { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + COLUMNS, ArrowUp: at - COLUMNS }[key]
}

/** A button with an emoji menu; arrow keys move in it. */
export function EmojiPicker({ label, onPick }: { label: string; onPick: (emoji: string) => void }) {
  const [open, setOpen] = useState(false)
  const [side, setSide] = useState<'above' | 'below'>('below')
  const around = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)

  useLayoutEffect(() => {
    if (!open) return
    setSide(sideOf(around.current!.querySelector<HTMLElement>('[role=menu]')!))
    around.current!.querySelector<HTMLElement>('[role=menuitem]')?.focus({ preventScroll: true })
    const outside = ({ target }: Event) => {
      if (!(target instanceof Node) || !around.current?.contains(target)) setOpen(false)
    }
    addEventListener('pointerdown', outside)
    return () => removeEventListener('pointerdown', outside)
  }, [open])

  function close(): void {
    setOpen(false)
    button.current?.focus()
  }

  function onKeyDown(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
    const all = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=menuitem]')]
    const next = to(all.indexOf(document.activeElement as HTMLElement), event.key)
    if (next !== undefined) all[(next + all.length) % all.length]?.focus()
    else if (event.key === 'Escape' || event.key === 'Tab') close()
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  return (
    <div class="menu-around" ref={around}>
      <button
        ref={button}
        type="button"
        class="icon-button"
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Icon of={SmilePlus} />
      </button>
      {open && (
        <div class={`emoji-grid ${side}`} role="menu" aria-label={label} onKeyDown={onKeyDown}>
          {EMOJI.map((emoji) => (
            <button
              key={emoji}
              type="button"
              role="menuitem"
              tabIndex={-1}
              onClick={() => {
                close()
                onPick(emoji)
              }}
            >
              {emoji}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}
