import { AppTile } from '../kit/app-tile.tsx'
import { appName } from './app-name.ts'
import { appBySlug } from './apps.ts'

export const AppIcon = ({ slug, size }: { slug: string; size: number }) => (
  <AppTile app={appBySlug(slug)} name={appName(slug)} size={size} />
)
