/** All pages that show data of the API. */
import type { Page } from '../page.ts';
import { approvals } from './approvals.ts';
import { base } from './base.ts';
import { bases } from './bases.ts';
import { events } from './events.ts';
import { overview } from './overview.ts';
import { policies } from './policies.ts';
import { policy } from './policy.ts';
import { setup } from './setup.ts';

export const pages: readonly Page[] = [overview, policies, policy, bases, base, events, approvals, setup];
