import type { ServiceWing } from '../service/compose/wing.ts';
import { composeNotices } from './compose-notices.ts';
import { createTargetRoutes } from './routes.ts';

/** The part of the wing in the role `work`, and its routes. */
export const service: ServiceWing = {
  routes: createTargetRoutes(undefined),
  work: (foundation, client) => ({ join: (means) => composeNotices(foundation, client, means) }),
};
