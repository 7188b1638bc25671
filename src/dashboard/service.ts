import type { ServiceWing } from '../service/compose/wing.ts';
import { composeDashboard } from './compose-dashboard.ts';

/** The part of the wing in the service: the role `web`. */
export const service: ServiceWing = { web: composeDashboard };
