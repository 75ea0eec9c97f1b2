import { start } from '../../kit/app-root.tsx'
import './admin.css'
import { Admin } from './admin.tsx'

void start(Admin)
