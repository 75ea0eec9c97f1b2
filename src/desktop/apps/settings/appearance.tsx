import { bridge } from '../../kit/bridge.ts'
import { Select } from '../../kit/field.tsx'
import { wallpapers, type Preferences } from '../../wire/protocol.ts'
import { words } from './words.ts'

/** Appearance in this browser; changes apply at once. */
export function Appearance() {
  const { theme, language, wallpaper } = bridge.preferences.value
  return (
    <section>
      <p class="soft">{words('this_browser')}</p>
      <Select
        label={words('theme')}
        value={theme}
        options={[
          { value: 'system', label: words('as_system') },
          { value: 'light', label: words('light') },
          { value: 'dark', label: words('dark') },
        ]}
        onChange={({ currentTarget }) => bridge.setPreferences({ theme: currentTarget.value as Preferences['theme'] })}
      />
      <Select
        label={words('language')}
        value={language}
        options={[
          { value: 'system', label: words('as_browser') },
          { value: 'en', label: 'English' },
          { value: 'de', label: 'Deutsch' },
        ]}
        onChange={({ currentTarget }) =>
          bridge.setPreferences({ language: currentTarget.value as Preferences['language'] })
        }
      />
      <fieldset class="wallpapers">
        <legend>{words('wallpaper')}</legend>
        {wallpapers.map((name) => (
          <label key={name}>
            <input
              type="radio"
              name="wallpaper"
              value={name}
              checked={wallpaper === name}
              onChange={() => bridge.setPreferences({ wallpaper: name })}
            />
            <span class={`swatch sky-${name}`} aria-hidden="true" />
            <span>{words(name)}</span>
          </label>
        ))}
        {wallpaper.startsWith('/') && (
          <label>
            <input type="radio" name="wallpaper" value={wallpaper} checked readOnly />
            <span class="swatch" aria-hidden="true" />
            <span>{wallpaper.split('/').at(-1)}</span>
          </label>
        )}
      </fieldset>
    </section>
  )
}
