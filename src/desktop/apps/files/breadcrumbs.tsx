import { printable } from '../../../base/text.ts'
import { ChevronRight } from 'lucide'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../../kit/icon.tsx'
import { dropTarget } from './item-drag.ts'
import { folder, openFolder } from './folder.ts'
import { breadcrumbsOf } from './paths.ts'
import { words } from './words.ts'

function Crumb({ name, path, isLast }: { name: string; path: string; isLast: boolean }) {
  const [isOver, setOver] = useState(false)
  return (
    <li>
      <button
        type="button"
        class={isOver ? 'over' : ''}
        aria-current={isLast ? 'page' : undefined}
        title={printable(name) || words('my_files')}
        onClick={() => openFolder(path)}
        {...dropTarget(path, setOver)}
      >
        {printable(name) || words('my_files')}
      </button>
      {!isLast && <Icon of={ChevronRight} size={15} />}
    </li>
  )
}

/** The path of the folder; its end stays visible when it is long. */
export function Breadcrumbs() {
  const list = useRef<HTMLOListElement>(null)
  const breadcrumbs = breadcrumbsOf(folder.value)
  useLayoutEffect(() => void (list.current!.scrollLeft = list.current!.scrollWidth), [folder.value])
  return (
    <nav class="crumbs" aria-label={words('path')}>
      <ol ref={list}>
        {breadcrumbs.map(({ name, path }, at) => (
          <Crumb key={path} name={name} path={path} isLast={at === breadcrumbs.length - 1} />
        ))}
      </ol>
    </nav>
  )
}
