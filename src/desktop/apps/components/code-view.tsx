import { byteLength } from '../../../base/text.ts'
import { COMPONENT_CODE } from '../../../contract/limits.ts'
import { bridge } from '../../kit/bridge.ts'
import { Editor } from '../../kit/editor.tsx'
import { TextField } from '../../kit/field.tsx'
import { formatSize } from '../../kit/formats.ts'
import type { Draft } from './drafts.ts'
import { reasonOf } from './failure.ts'
import { write } from './opened.ts'
import { triedName } from './trial.ts'
import { words } from './words.ts'

const languages = { css: 'css', js: 'js', widget: 'html' } as const

/** A number of pixels of a widget, which stands in its metadata. */
function Size({ one, side }: { one: Draft; side: 'width' | 'height' }) {
  const value = one.metadata[side]
  return (
    <TextField
      label={words(side)}
      type="number"
      inputMode="numeric"
      min={side === 'width' ? 80 : 48}
      max={800}
      step={1}
      placeholder={side === 'width' ? '240' : '140'}
      value={typeof value === 'number' ? value : ''}
      onInput={({ currentTarget }) => {
        const { [side]: _, ...others } = one.metadata
        const pixels = currentTarget.valueAsNumber
        write({ metadata: Number.isFinite(pixels) ? { ...others, [side]: pixels } : others })
      }}
    />
  )
}

const pretty = (json: string): string => JSON.stringify(JSON.parse(json), null, 2)

/** What becomes of what is tried out. */
function Trial({ one }: { one: Draft }) {
  if (triedName.value !== one.name) return null
  const trial = bridge.trial.value
  const state = trial?.state
  const text = state === undefined ? words('trial_waits') : state === 'running' ? words('trial_runs') : reasonOf(state)
  return (
    <section class={`trial trial-${one.kind}`} aria-label={words('trying')}>
      <p role="status" class={typeof state === 'object' ? 'flaw' : ''}>
        {text}
      </p>
      {(['dock', 'panel'] as const).map((hook) => {
        const json = trial?.answers[hook]
        if (json === undefined) return null
        return (
          <div key={hook}>
            <h3>{words(`answer_${hook}`)}</h3>
            <pre tabIndex={0} role="region" aria-label={words(`answer_${hook}`)}>
              {pretty(json)}
            </pre>
          </div>
        )
      })}
    </section>
  )
}

/** What would keep the code from being saved, and how much room there is. */
function Limits({ one }: { one: Draft }) {
  const bytes = byteLength(one.code)
  const blocked = one.kind === 'js' ? COMPONENT_CODE.blocked.filter((pattern) => one.code.includes(pattern)) : []
  return (
    <div class="limits">
      <span class="soft">{words('size', formatSize(bytes), formatSize(COMPONENT_CODE.max_bytes))}</span>
      <span role="status" class="flaw">
        {bytes > COMPONENT_CODE.max_bytes && words('too_large')}
        {blocked.length > 0 && words('blocked', blocked.join(', '))}
      </span>
    </div>
  )
}

/** The code of a component, and what becomes of it when it is tried out. */
export const CodeView = ({ one }: { one: Draft }) => (
  <>
    {one.kind === 'widget' && (
      <div class="sizes" role="group" aria-label={words('pixels')}>
        <Size one={one} side="width" />
        <Size one={one} side="height" />
        <span class="soft">{words('pixels')}</span>
      </div>
    )}
    <Editor
      label={words('code_of', one.name)}
      language={languages[one.kind]}
      value={one.code}
      onInput={(code) => write({ code })}
    />
    <Limits one={one} />
    <Trial one={one} />
  </>
)
