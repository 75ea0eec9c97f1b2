import { useSignal, useSignalEffect } from '@preact/signals'
import { ArrowLeft } from 'lucide'
import { isTopic, topics, type Topic } from '../../../base/help-topics.ts'
import { bridge } from '../../kit/bridge.ts'
import { IconButton } from '../../kit/button.tsx'
import { useQuery } from '../../kit/query.ts'
import { Markdown } from '../../kit/markdown.tsx'
import { SplitView, Toolbar } from '../../kit/split-view.tsx'
import { Loading } from '../../kit/empty-state.tsx'
import { common } from '../../kit/words.ts'
import { pageOf } from './pages.ts'
import { topicNames, words } from './words.ts'

const names = Object.keys(topics) as Topic[]

function Page({ topic, onFollow }: { topic: Topic; onFollow: (topic: Topic) => void }) {
  const { value } = useQuery(() => pageOf(topic))
  if (value === undefined) return <Loading />
  const follow = (event: MouseEvent): void => {
    const link = (event.target as Element).closest('a[href^="#"]')
    if (!link) return
    event.preventDefault()
    const wanted = link.getAttribute('href')!.slice(1)
    if (isTopic(wanted)) onFollow(wanted)
  }
  return (
    // Links in the page are focusable themselves; this handles their clicks.
    <article class="page help-page" lang="en" tabIndex={0} onClick={follow}>
      <Markdown text={value} wrap />
    </article>
  )
}

export function Help() {
  const open = useSignal<Topic | undefined>('getting-started')
  useSignalEffect(() => {
    const wanted = bridge.path.value.slice(1)
    if (isTopic(wanted)) open.value = wanted
  })
  const topic = open.value
  return (
    <>
      <h1 class="unseen">{words('help')}</h1>
      <SplitView
        label={words('help')}
        shows={topic ? 'main' : 'side'}
        back={topic && (() => void (open.value = undefined))}
        side={
          <ul class="side-pages">
            {names.map((name) => (
              <li key={name}>
                <button
                  type="button"
                  aria-current={name === topic ? 'page' : undefined}
                  onClick={() => void (open.value = name)}
                >
                  {topicNames(name)}
                </button>
              </li>
            ))}
          </ul>
        }
        main={
          topic && (
            <>
              <Toolbar label={topicNames(topic)}>
                <IconButton
                  icon={ArrowLeft}
                  class="only-narrow"
                  label={common('back')}
                  onClick={() => void (open.value = undefined)}
                />
                <h2>{topicNames(topic)}</h2>
                <span class="help-note">{words('english')}</span>
              </Toolbar>
              <Page key={topic} topic={topic} onFollow={(one) => void (open.value = one)} />
            </>
          )
        }
      />
    </>
  )
}
