import type { IconNode } from 'lucide'
import type { ComponentChildren, JSX } from 'preact'
import { Icon } from './icon.tsx'

type ButtonProps = Omit<JSX.IntrinsicElements['button'], 'icon'>

/** A text button. `main` is the primary action, `danger` a destructive one. */
export function Button({
  kind = 'plain',
  icon,
  children,
  busy = false,
  ...rest
}: ButtonProps & {
  kind?: 'main' | 'plain' | 'quiet' | 'danger'
  icon?: IconNode
  busy?: boolean
  children: ComponentChildren
}) {
  return (
    <button type="button" {...rest} class={`button ${kind}`} aria-busy={busy} disabled={busy || rest.disabled}>
      {icon && <Icon of={icon} />}
      <span>{children}</span>
    </button>
  )
}

/** An icon button; `label` is its accessible name. */
export function IconButton({
  icon,
  label,
  size,
  ...rest
}: ButtonProps & { icon: IconNode; label: string; size?: number }) {
  return (
    <button type="button" title={label} {...rest} class={`icon-button ${String(rest.class ?? '')}`} aria-label={label}>
      <Icon of={icon} {...(size ? { size } : {})} />
    </button>
  )
}
