import { byteLength } from '../../../base/text.ts'
import { COMPONENT_CODE } from '../../../contract/limits.ts'
import { bridge } from '../../kit/bridge.ts'
import { Editor } from '../../kit/editor.tsx'
import { TextField } from '../../kit/field.tsx'
import { formatSize } from '../../kit/formats.ts'
import type { Draft } from './drafts.ts'
import { describeFailure } from './stop-reason.ts'
import { write } from './open-component.ts'
import { previewedName } from './live-preview.ts'
import { words } from './words.ts'

const languages = { css: 'css', js: 'js', widget: 'html' } as const

/** Width or height of a widget, pixels; stored in its metadata. */
function Size({ draft, side }: { draft: Draft; side: 'width' | 'height' }) {
  const value = draft.metadata[side]
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
        const { [side]: _, ...others } = draft.metadata
        const pixels = currentTarget.valueAsNumber
        write({ metadata: Number.isFinite(pixels) ? { ...others, [side]: pixels } : others })
      }}
    />
  )
}

const pretty = (json: string): string => JSON.stringify(JSON.parse(json), null, 2)

function Preview({ draft }: { draft: Draft }) {
  if (previewedName.value !== draft.name) return null
  const preview = bridge.previewState.value
  const state = preview?.state
  const text =
    state === undefined ? words('preview_starts') : state === 'running' ? words('preview_runs') : describeFailure(state)
  return (
    <section class={`preview preview-${draft.kind}`} aria-label={words('previewing')}>
      <p role="status" class={typeof state === 'object' ? 'problem' : ''}>
        {text}
      </p>
      {(['dock', 'panel'] as const).map((hook) => {
        const json = preview?.answers[hook]
        if (json === undefined) return null
        return (
          <div key={hook}>
            <h3>{words(`result_${hook}`)}</h3>
            <pre tabIndex={0} role="region" aria-label={words(`result_${hook}`)}>
              {pretty(json)}
            </pre>
          </div>
        )
      })}
    </section>
  )
}

/** Size of the code, and problems that prevent saving. */
function Limits({ draft }: { draft: Draft }) {
  const bytes = byteLength(draft.code)
  const blocked = draft.kind === 'js' ? COMPONENT_CODE.blocked.filter((pattern) => draft.code.includes(pattern)) : []
  return (
    <div class="limits">
      <span class="soft">{words('size', formatSize(bytes), formatSize(COMPONENT_CODE.max_bytes))}</span>
      <span role="status" class="problem">
        {bytes > COMPONENT_CODE.max_bytes && words('too_large')}
        {blocked.length > 0 && words('blocked', blocked.join(', '))}
      </span>
    </div>
  )
}

/** The code editor of a component, with its preview. */
export const CodeView = ({ draft }: { draft: Draft }) => (
  <>
    {draft.kind === 'widget' && (
      <div class="sizes" role="group" aria-label={words('pixels')}>
        <Size draft={draft} side="width" />
        <Size draft={draft} side="height" />
        <span class="soft">{words('pixels')}</span>
      </div>
    )}
    <Editor
      label={words('code_of', draft.name)}
      language={languages[draft.kind]}
      value={draft.code}
      onInput={(code) => write({ code })}
    />
    <Limits draft={draft} />
    <Preview draft={draft} />
  </>
)
