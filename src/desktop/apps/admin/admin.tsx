import { useSignalEffect } from '@preact/signals'
import {
  ArchiveRestore,
  ArrowLeft,
  HardDrive,
  HeartPulse,
  type IconNode,
  LayoutGrid,
  RefreshCw,
  ScrollText,
  ShieldUser,
  Users as UsersIcon,
  Wrench,
} from 'lucide'
import type { FunctionComponent } from 'preact'
import { bridge } from '../../kit/bridge.ts'
import { IconButton } from '../../kit/button.tsx'
import { Icon } from '../../kit/icon.tsx'
import { SplitView, Toolbar } from '../../kit/split-view.tsx'
import { EmptyState, OfflineBanner } from '../../kit/empty-state.tsx'
import { common } from '../../kit/words.ts'
import { RegisteredApps } from './registered-apps.tsx'
import { Audit } from './audit.tsx'
import { Backups } from './backups.tsx'
import { Health } from './health.tsx'
import { Maintenance } from './maintenance.tsx'
import { Quotas } from './quotas.tsx'
import { refreshAll } from './live-query.ts'
import { Users } from './users.tsx'
import { goTo, openPage, pageNames, showPage, type PageName } from './navigation.ts'
import { words } from './words.ts'

const pages: Record<PageName, { icon: IconNode; Page: FunctionComponent }> = {
  users: { icon: UsersIcon, Page: Users },
  quotas: { icon: HardDrive, Page: Quotas },
  maintenance: { icon: Wrench, Page: Maintenance },
  backups: { icon: ArchiveRestore, Page: Backups },
  health: { icon: HeartPulse, Page: Health },
  audit: { icon: ScrollText, Page: Audit },
  apps: { icon: LayoutGrid, Page: RegisteredApps },
}

export function Admin() {
  useSignalEffect(() => goTo(bridge.path.value))
  const name = openPage.value
  const Page = name && pages[name].Page
  if (bridge.user.value?.role !== 'admin')
    return (
      <main>
        <h1 class="unseen">{words('admin')}</h1>
        <EmptyState icon={ShieldUser} title={words('only_administrators')} />
      </main>
    )
  return (
    <>
      <h1 class="unseen">{words('admin')}</h1>
      <OfflineBanner />
      <SplitView
        label={words('admin')}
        shows={name ? 'main' : 'side'}
        back={name && (() => showPage(undefined))}
        side={
          <ul class="side-pages">
            {pageNames.map((one) => (
              <li key={one}>
                <button type="button" aria-current={one === name ? 'page' : undefined} onClick={() => showPage(one)}>
                  <Icon of={pages[one].icon} />
                  {words(one)}
                </button>
              </li>
            ))}
          </ul>
        }
        main={
          name &&
          Page && (
            <>
              <Toolbar label={words(name)}>
                <IconButton
                  icon={ArrowLeft}
                  class="only-narrow"
                  label={common('back')}
                  onClick={() => showPage(undefined)}
                />
                <h2>{words(name)}</h2>
                <span class="space" />
                <IconButton icon={RefreshCw} label={words('reload')} onClick={refreshAll} />
              </Toolbar>
              <div class="page admin-page" role="region" aria-label={words(name)} tabIndex={0}>
                <Page key={name} />
              </div>
            </>
          )
        }
      />
    </>
  )
}
