import { start } from '../../kit/start.tsx'
import './docs.css'
import { Docs } from './docs.tsx'

void start(Docs)
