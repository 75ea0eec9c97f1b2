import { start } from '../../kit/start.tsx'
import './calendar.css'
import { Calendar } from './calendar.tsx'

void start(Calendar)
