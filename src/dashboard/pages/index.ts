/** All pages that show data of the API. */
import type { Page } from '../page.ts';
import { activity } from './activity.ts';
import { apiOperation } from './api-operation.ts';
import { apiReference } from './api-reference.ts';
import { approvals } from './approvals.ts';
import { base } from './base.ts';
import { bases } from './bases.ts';
import { cause } from './cause.ts';
import { events } from './events.ts';
import { image } from './image.ts';
import { images } from './images.ts';
import { now } from './now.ts';
import { places } from './places.ts';
import { policies } from './policies.ts';
import { policy } from './policy.ts';
import { policyYaml } from './policy-yaml.ts';
import { search } from './search.ts';
import { push } from './push.ts';
import { setup } from './setup.ts';

export const pages: readonly Page[] = [
  now,
  cause,
  policies,
  policy,
  policyYaml,
  images,
  image,
  places,
  bases,
  base,
  activity,
  events,
  push,
  approvals,
  setup,
  search,
  apiReference,
  apiOperation,
];
