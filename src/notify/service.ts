import type { ServiceWing } from '../service/compose/wing.ts';
import { composeNotices } from './compose-notices.ts';

/** The part of the wing in the role `work`. */
export const service: ServiceWing = {
  work: (foundation, client) => ({ join: (means) => composeNotices(foundation, client, means) }),
};
