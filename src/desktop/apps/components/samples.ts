import clock from '../../../../templates/sample-components/clock.widget.html?raw'
import notes from '../../../../templates/sample-components/notes.widget.html?raw'
import weather from '../../../../templates/sample-components/weather.widget.html?raw'
import accent from '../../../../templates/sample-components/accent.css?raw'
import dock from '../../../../templates/sample-components/dock.js?raw'
import type { Kind } from './store.ts'

interface Sample {
  key: 'empty_css' | 'accent' | 'empty_js' | 'dock' | 'empty_widget' | 'clock' | 'weather' | 'notes'
  kind: Kind
  code: string
  metadata: Record<string, unknown>
}

const size = (width: number, height: number) => ({ width, height })

/** Code of new components. */
export const samples: readonly Sample[] = [
  { key: 'empty_css', kind: 'css', code: '', metadata: {} },
  { key: 'accent', kind: 'css', code: accent, metadata: {} },
  { key: 'empty_js', kind: 'js', code: '', metadata: {} },
  { key: 'dock', kind: 'js', code: dock, metadata: {} },
  { key: 'empty_widget', kind: 'widget', code: '', metadata: size(240, 140) },
  { key: 'clock', kind: 'widget', code: clock, metadata: size(240, 130) },
  { key: 'weather', kind: 'widget', code: weather, metadata: size(240, 110) },
  { key: 'notes', kind: 'widget', code: notes, metadata: size(240, 140) },
]
