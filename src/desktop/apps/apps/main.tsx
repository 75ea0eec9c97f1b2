import { start } from '../../kit/app-root.tsx'
import '../../kit/tiles.css'
import './apps.css'
import { AppManager } from './app-manager.tsx'

void start(AppManager)
