import type { ServiceWing } from '../service/compose/wing.ts';
import { composeDashboard } from './compose-dashboard.ts';

/** The role `web`. */
export const service: ServiceWing = { web: composeDashboard };
