/** The routes that the wing adds to the API: the targets of notifications, and a test message. */
import { z } from 'zod';
import { AccessError } from '../service/api/access.ts';
import { notificationRoutes } from '../service/api/notification-view.ts';
import { requireActions } from '../service/api/request-action.ts';
import { defineRoute, type Route } from '../service/api/route.ts';
import { listTargets, type KnownTargets } from './list-targets.ts';
import { notificationTarget } from './resource/kind.ts';
import { describeResult, type SendResult } from '../service/proxy/exchange.ts';

export interface TargetRoutesMeans extends KnownTargets {
  /** Sends a test message to a target, once; undefined if there is no such target. */
  readonly test: (target: string) => Promise<SendResult | undefined>;
  readonly now: () => number;
}

/** The pause between two tests of a target. */
const pauseMs = 10_000;

/** Creates the routes. Without `means`, as in a process without the role `work`, they answer 503. */
export function createTargetRoutes(means: TargetRoutesMeans | undefined): Route[] {
  const testedAt = new Map<string, number>();
  return [
    defineRoute({
      method: 'GET',
      ...notificationRoutes.list,
      id: 'listNotificationTargets',
      group: 'Installation',
      summary: 'List the targets of notifications, and whether they accept messages',
      about:
        'Targets of the configuration need permission to list imagepolicies in all namespaces, NotificationTargets that to list notificationtargets in their namespace. Addresses and secrets are never shown.',
      handle: async ({ access }) => ({ targets: await listTargets(known(means), access) }),
    }),
    defineRoute({
      method: 'POST',
      ...notificationRoutes.test,
      id: 'testNotificationTarget',
      group: 'Installation',
      summary: 'Send a test message to a target of notifications',
      about:
        'Once, and at most every ten seconds. Needs `operations.actions`, and permission to update notificationtargets in the namespace of the target, or imagepolicies in all namespaces for a target of the configuration.',
      body: z
        .object({
          target: z
            .string()
            .regex(/^(?:[a-z0-9-]{1,63}\/)?[a-z0-9.-]{1,253}$/, 'is the name of a target')
            .describe('The name in the list.'),
        })
        .meta({ id: 'TestNotificationTargetRequest' }),
      errors: [404],
      async handle({ body: { target }, access, ports }) {
        const { test, now } = known(means);
        requireActions(ports, access);
        const [namespace, name] = target.split('/');
        const needed =
          name === undefined
            ? ({ verb: 'update' } as const)
            : ({ verb: 'update', resource: notificationTarget.plural, namespace: namespace ?? '' } as const);
        if (!(await access.may(needed)))
          throw new AccessError(
            403,
            `a test of ${target} needs permission to update ${name === undefined ? 'imagepolicies in all namespaces' : `notificationtargets in ${namespace}`}`,
          );
        if (now() - (testedAt.get(target) ?? -Infinity) < pauseMs)
          throw new AccessError(429, `${target} was just tested; try again in ${pauseMs / 1_000} s`);
        for (const [one, at] of testedAt) if (now() - at >= pauseMs) testedAt.delete(one);
        testedAt.set(target, now());
        const result = await test(target);
        if (result === undefined) throw new AccessError(404, `there is no usable target ${target}`);
        ports.logger.info({ target, user: access.user }, 'notification target tested');
        return { accepted: result.kind === 'sent', message: describeResult(result) };
      },
    }),
  ];
}

function known(means: TargetRoutesMeans | undefined): TargetRoutesMeans {
  if (means === undefined)
    throw new AccessError(503, 'this process does not have the role work, so it knows no targets: send the request to one that has');
  return means;
}
