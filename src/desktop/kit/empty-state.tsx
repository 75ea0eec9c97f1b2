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
      <span>{common(bridge.hasUnstoredDrafts.value ? 'offline_unstored' : 'offline')}</span>
    </Banner>
  )

/** Placeholder of an app without data: its purpose, and a button to start. */
export const FirstUse = ({
  icon,
  words,
  onAdd,
}: {
  icon: IconNode
  words: (key: 'none_yet' | 'none_yet_text' | 'new') => string
  onAdd: () => void
}) => (
  <EmptyState icon={icon} title={words('none_yet')}>
    <p>{words('none_yet_text')}</p>
    <Button kind="main" icon={Plus} onClick={onAdd}>
      {words('new')}
    </Button>
  </EmptyState>
)
