import { AppTile } from '../kit/app-tile.tsx'
import { appName } from './app-name.ts'
import { appBySlug } from './apps.ts'

/** The picture of an app on its tile. */
export const AppIcon = ({ slug, size }: { slug: string; size: number }) => (
  <AppTile app={appBySlug(slug)} name={appName(slug)} size={size} />
)
