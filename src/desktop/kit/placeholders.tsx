import { CloudOff, type IconNode, Plus } from 'lucide'
import type { ComponentChildren } from 'preact'
import { Banner } from './banner.tsx'
import { bridge } from './bridge.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import { common } from './words.ts'

/** Placeholder of an empty view: a title, a hint, and a way to start. */
export const EmptyState = ({
  icon,
  title,
  children,
}: {
  icon: IconNode
  title: string
  children?: ComponentChildren
}) => (
  <div class="empty">
    <Icon of={icon} size={40} />
    <h2>{title}</h2>
    {children}
  </div>
)

export const Loading = () => (
  <div class="loading" role="status">
    <span class="spinner" aria-hidden="true" />
    <span>{common('loading')}</span>
  </div>
)

/** Shown while the server cannot be reached. */
export const OfflineBanner = () =>
  bridge.online.value ? null : (
    <Banner>
      <Icon of={CloudOff} />
      <span>{common('offline')}</span>
    </Banner>
  )

/** Placeholder of an app without data: its purpose, and a button to start. */
export const FirstUse = ({
  icon,
  title,
  text,
  add,
  onAdd,
}: {
  icon: IconNode
  title: string
  text: string
  /** Label of the button. */
  add: string
  onAdd: () => void
}) => (
  <EmptyState icon={icon} title={title}>
    <p>{text}</p>
    <Button kind="main" icon={Plus} onClick={onAdd}>
      {add}
    </Button>
  </EmptyState>
)
