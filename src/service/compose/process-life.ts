/** The life of a process: its parts, in the order in which they start. */
import { hostname } from 'node:os';
import { within } from '../../core/async/deadline.ts';
import type { Role } from './roles.ts';
import type { Foundation } from './foundation.ts';
import type { Living } from './life.ts';
import { closeListener, openListener } from '../operations/listener.ts';
import type { ApiPart } from './api.ts';
import { publishProcess } from '../queue/process-list.ts';
import { readVersion } from '../config/version.ts';
import { tendHeap } from '../operations/heap.ts';
import { settingError } from '../config/config-error.ts';
import { buildOperationsApp } from '../operations/app.ts';
import type { OpenRoles } from './open-roles.ts';

/**
 * All parts of the process, in the order in which they start. The conversion webhook comes first, because a starting API server cannot even list the policies
 * until the webhook answers. The receivers come after the workers, so that they take no more pushes while the workers end their jobs.
 */
export function processParts(
  { settings, outbound }: Foundation,
  roles: ReadonlySet<Role>,
  { convert, redis, waiting, work, receive }: OpenRoles,
  { operations, api }: { readonly operations: ReturnType<typeof buildOperationsApp>; readonly api: ApiPart | undefined },
): Living[] {
  const { config } = settings;
  const describeProcess = () => ({ name: hostname(), version: readVersion(), roles: [...roles], startedAt: new Date().toISOString() });
  let listed: ReturnType<typeof publishProcess> | undefined;
  let heap: ReturnType<typeof tendHeap> | undefined;
  const openOperations = () =>
    openListener(operations, config.operations, (key, message) => settingError(settings, ['operations', key], message));
  return [
    { name: 'outgoing connections', stop: (deadlineMs) => within(deadlineMs, outbound.close()) },
    { name: 'role convert', start: () => convert?.start(), stop: (deadlineMs) => convert?.stop(deadlineMs) },
    { name: 'API', stop: () => api?.close() },
    { name: 'operations listener', start: openOperations, stop: () => closeListener(operations) },
    { name: 'connection to Redis', stop: () => redis?.stop() },
    {
      name: 'list of processes',
      start: () => void (listed = redis && publishProcess(redis.connection, config.redis.prefix, describeProcess())),
      stop: (deadlineMs) => within(deadlineMs, listed?.stop() ?? Promise.resolve()),
    },
    { name: 'measurement of waiting jobs', stop: () => waiting?.stop() },
    { name: 'role work', start: () => work?.start(), stop: (deadlineMs) => work?.stop(deadlineMs) },
    { name: 'role receive', start: () => receive?.start(), stop: (deadlineMs) => receive?.stop(deadlineMs) },
    { name: 'heap', start: () => void (heap = tendHeap()), stop: () => heap?.stop() },
  ];
}
