import { start } from '../../kit/app-root.tsx'
import './docs.css'
import { Docs } from './docs.tsx'

void start(Docs)
