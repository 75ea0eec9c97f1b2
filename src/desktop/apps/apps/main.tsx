import { start } from '../../kit/start.tsx'
import '../../kit/tiles.css'
import './apps.css'
import { AppManager } from './app-manager.tsx'

void start(AppManager)
