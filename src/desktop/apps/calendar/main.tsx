import { start } from '../../kit/app-root.tsx'
import './calendar.css'
import { Calendar } from './calendar.tsx'

void start(Calendar)
