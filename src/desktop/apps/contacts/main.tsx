import { start } from '../../kit/app-root.tsx'
import './contacts.css'
import { Contacts } from './contacts.tsx'

void start(Contacts)
