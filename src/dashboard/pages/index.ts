/** Every page that shows what the API answers. */
import type { Page } from '../page.ts';
import { approvals } from './approvals.ts';
import { events } from './events.ts';
import { overview } from './overview.ts';
import { policies } from './policies.ts';
import { policy } from './policy.ts';
import { setup } from './setup.ts';

export const pages: readonly Page[] = [overview, policies, policy, events, approvals, setup];
