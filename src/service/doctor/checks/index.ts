/** The list of checks, in the order of the report. All steps to add one: test/structure/worked-examples/doctor-check.ts. */
import { certificates } from './certificates.ts';
import { clock } from './clock.ts';
import { definition } from './definition.ts';
import { notifications } from './notifications.ts';
import { permissions } from './permissions.ts';
import { policies } from './policies.ts';
import { proxies } from './proxies.ts';
import { record } from './record.ts';
import { redis } from './redis.ts';
import { registries } from './registries.ts';
import { service } from './service.ts';
import { webhooks } from './webhooks.ts';

export const checks = {
  service,
  redis,
  record,
  clock,
  permissions,
  definition,
  certificates,
  webhooks,
  proxies,
  notifications,
  registries,
  policies,
} as const;
