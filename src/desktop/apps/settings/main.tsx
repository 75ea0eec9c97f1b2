import { start } from '../../kit/app-root.tsx'
import '../../kit/wallpapers.css'
import './settings.css'
import { Settings } from './settings.tsx'

void start(Settings)
