import { useSignal } from '@preact/signals'
import { ArrowLeft, Globe, MapPin, Plus } from 'lucide'
import { useEffect, useRef } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { IconButton } from '../../kit/button.tsx'
import { EntryField } from '../../kit/entry-field.tsx'
import { EntryList } from '../../kit/entry-list.tsx'
import { EntriesView, EntryBar, EntryAlert } from '../../kit/entry-controls.tsx'
import { SearchField } from '../../kit/field.tsx'
import { formatNumber } from '../../kit/formats.ts'
import { FileMenu } from '../../kit/row-files/file-menu.tsx'
import { SplitView, Toolbar } from '../../kit/split-view.tsx'
import { FirstUse, OfflineBanner } from '../../kit/empty-state.tsx'
import { common } from '../../kit/words.ts'
import { entries, places, searchText, type Place } from './store.ts'
import { words } from './words.ts'
import { WorldMap } from './world-map.tsx'

const degrees = (value: number, direction: string): string =>
  `${formatNumber(Math.abs(value), { maximumFractionDigits: 5 })}° ${direction}`

/** `45.07° N, 7.686° E`. */
const coordinates = ({ latitude, longitude }: Place): string =>
  `${degrees(latitude, latitude < 0 ? 'S' : 'N')}, ${degrees(longitude, longitude < 0 ? 'W' : words('east'))}`

const Line = ({ place }: { place: Place }) => (
  <div class="place-line">
    <strong>{place.name || words('unnamed')}</strong>
    <p>{[place.category, coordinates(place)].filter(Boolean).join(' · ')}</p>
  </div>
)

function Details({ place }: { place: Place }) {
  const entryProps = { of: entries, entry: place }
  const form = useRef<HTMLDivElement>(null)
  useEffect(() => bridge.setTitle(place.name && `${place.name} – ${words('places')}`), [place.name])
  useEffect(() => {
    if (place.name === '') form.current?.querySelector('input')?.focus()
    return () => entries.drafts.flush()
  }, [])
  return (
    <article class="place" aria-label={place.name || words('unnamed')}>
      <EntryBar {...entryProps} name={place.name || words('unnamed')} />
      <EntryAlert {...entryProps} label={(column) => words(column as 'name')} />
      <div class="form" ref={form}>
        <EntryField {...entryProps} name="name" label={words('name')} autocomplete="off" />
        <div class="two">
          <EntryField {...entryProps} name="latitude" label={words('latitude')} autocomplete="off" />
          <EntryField {...entryProps} name="longitude" label={words('longitude')} autocomplete="off" />
        </div>
        <EntryField {...entryProps} name="address" label={words('address')} autocomplete="off" />
        <div class="two">
          <EntryField {...entryProps} name="category" label={words('category')} autocomplete="off" />
          <EntryField {...entryProps} name="visited_on" label={words('visited_on')} />
        </div>
        <EntryField {...entryProps} name="note" label={words('note')} />
      </div>
    </article>
  )
}

function List() {
  const none = <FirstUse icon={MapPin} words={words} onAdd={() => entries.create()} />
  return (
    <EntriesView
      of={entries}
      icon={MapPin}
      count={places.value.length}
      isFiltered={searchText.value !== ''}
      empty={none}
    >
      <EntryList of={entries} items={places.value} rowHeight={56} label={words('places')}>
        {(place) => <Line place={place} />}
      </EntryList>
    </EntriesView>
  )
}

export function Places() {
  const place = entries.current.value
  const isMap = useSignal(false)
  return (
    <>
      <h1 class="unseen">{words('places')}</h1>
      <OfflineBanner />
      <SplitView
        label={words('places')}
        shows={place || isMap.value ? 'main' : 'side'}
        back={place ? entries.close : isMap.value && (() => void (isMap.value = false))}
        side={
          <>
            <Toolbar label={words('places')}>
              <SearchField label={words('search')} of={searchText} />
              <IconButton
                icon={Globe}
                class="only-narrow"
                label={words('show_map')}
                onClick={() => void (isMap.value = true)}
              />
              <IconButton icon={Plus} label={words('new')} onClick={() => entries.create()} />
              <FileMenu of={entries} name={words('places')} />
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
