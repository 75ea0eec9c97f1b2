import { start } from '../../kit/start.tsx'
import '../../kit/wallpapers.css'
import './settings.css'
import { Settings } from './settings.tsx'

void start(Settings)
