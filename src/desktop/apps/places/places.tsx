import { useSignal } from '@preact/signals'
import { ArrowLeft, Globe, MapPin, Plus } from 'lucide'
import { useEffect, useRef } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { IconButton } from '../../kit/button.tsx'
import { EntryField } from '../../kit/entry-field.tsx'
import { EntryList } from '../../kit/entry-list.tsx'
import { EntriesOr, EntryBar, EntryTrouble } from '../../kit/entry-parts.tsx'
import { SearchField } from '../../kit/field.tsx'
import { formatNumber } from '../../kit/formats.ts'
import { Split, Toolbar } from '../../kit/split.tsx'
import { NoneYet, OfflineBanner } from '../../kit/states.tsx'
import { common } from '../../kit/words.ts'
import { entries, places, sought, type Place } from './store.ts'
import { words } from './words.ts'
import { WorldMap } from './world-map.tsx'

const degrees = (value: number): string => formatNumber(value, { maximumFractionDigits: 5 })

const Line = ({ place: { name, category, latitude, longitude } }: { place: Place }) => (
  <div class="place-line">
    <strong>{name || words('unnamed')}</strong>
    <p>{[category, `${degrees(latitude)}° ${degrees(longitude)}°`].filter(Boolean).join(' · ')}</p>
  </div>
)

function Details({ place }: { place: Place }) {
  const at = { of: entries, entry: place }
  const form = useRef<HTMLDivElement>(null)
  useEffect(() => bridge.title(place.name && `${place.name} – ${words('places')}`), [place.name])
  useEffect(() => {
    if (place.name === '') form.current?.querySelector('input')?.focus()
    return () => entries.drafts.flush()
  }, [])
  return (
    <article class="place" aria-label={place.name || words('unnamed')}>
      <EntryBar {...at} name={place.name || words('unnamed')} />
      <EntryTrouble {...at} label={(column) => words(column as 'name')} />
      <div class="form" ref={form}>
        <EntryField {...at} name="name" label={words('name')} autocomplete="off" />
        <div class="two">
          <EntryField {...at} name="latitude" label={words('latitude')} autocomplete="off" />
          <EntryField {...at} name="longitude" label={words('longitude')} autocomplete="off" />
        </div>
        <EntryField {...at} name="address" label={words('address')} autocomplete="off" />
        <div class="two">
          <EntryField {...at} name="category" label={words('category')} autocomplete="off" />
          <EntryField {...at} name="visited_on" label={words('visited_on')} />
        </div>
        <EntryField {...at} name="note" label={words('note')} />
      </div>
    </article>
  )
}

function List() {
  const none = (
    <NoneYet
      icon={MapPin}
      title={words('none_yet')}
      text={words('none_yet_text')}
      add={words('new')}
      onAdd={() => entries.create()}
    />
  )
  return (
    <EntriesOr of={entries} icon={MapPin} count={places.value.length} isFiltered={sought.value !== ''} none={none}>
      <EntryList of={entries} items={places.value} rowHeight={56} label={words('places')}>
        {(place) => <Line place={place} />}
      </EntryList>
    </EntriesOr>
  )
}

/** The app. */
export function Places() {
  const place = entries.current.value
  const isMap = useSignal(false)
  return (
    <>
      <h1 class="unseen">{words('places')}</h1>
      <OfflineBanner />
      <Split
        label={words('places')}
        shows={place || isMap.value ? 'main' : 'side'}
        side={
          <>
            <Toolbar label={words('places')}>
              <SearchField
                label={words('search')}
                value={sought.value}
                onInput={({ currentTarget }) => void (sought.value = currentTarget.value)}
              />
              <IconButton
                icon={Globe}
                class="only-narrow"
                label={words('show_map')}
                onClick={() => void (isMap.value = true)}
              />
              <IconButton icon={Plus} label={words('new')} onClick={() => entries.create()} />
            </Toolbar>
            <List />
          </>
        }
        main={
          <>
            {!place && (
              <IconButton
                icon={ArrowLeft}
                class="only-narrow map-back"
                label={common('back')}
                onClick={() => void (isMap.value = false)}
              />
            )}
            <WorldMap />
            {place && <Details key={entries.open.value} place={place} />}
          </>
        }
      />
    </>
  )
}
