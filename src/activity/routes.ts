/** The route that the wing adds to the API. */
import { z } from 'zod';
import { defined } from '../core/model/defined.ts';
import { AccessError } from '../service/api/access.ts';
import { activityReads, activityTypes } from '../service/api/activity-view.ts';
import { eventOutcomes } from '../service/api/event-view.ts';
import {
  defineRoute,
  digestParam,
  instantParam,
  labelParam,
  namespaceName,
  policyKeyParam,
  receiverParam,
  type Route,
} from '../service/api/route.ts';
import { labelledKeys } from '../service/api/see-policies.ts';
import { listActivity, type ReadActivities } from './list-activity.ts';
import { fromStart } from './merge-pages.ts';

const end = '.';
/** Where a page goes on: the positions in the list of pushes and in the record. */
const position = z
  .string()
  .regex(/^(?:\d{1,15}-[0-9a-zA-Z_-]{1,128}|\.|)~(?:\d{1,15}-\d{1,20}|\.|)$/, 'is not the "next" of an answer')
  .transform((text) => text.split('~').map((part) => (part === end ? undefined : part)));

/** Creates the routes. Without `read`, as in a process without the role `work`, they answer 503. */
export function createActivityRoutes(read: ReadActivities | undefined): Route[] {
  return [
    defineRoute({
      method: 'GET',
      ...activityReads.list,
      id: 'listActivity',
      group: 'Events',
      summary: 'List what happened, newest first',
      about:
        'Pushes, what image-watcher did, and what people asked for, on one axis. Callers see what concerns objects that they may get; pushes as in `/events`, without those that no policy watches ' +
        'or a receiver ignored, unless `outcome` asks for them. A page may be shorter than asked for, even empty: only `next` says whether there is more.',
      query: z.object({
        limit: z.coerce.number().int().min(1).max(500).default(50).describe('The most entries of a page.'),
        type: z
          .enum(activityTypes, { error: `one of ${activityTypes.join(', ')}` })
          .exactOptional()
          .describe('Only entries of this type.'),
        namespace: namespaceName.exactOptional().describe('Only what is of this namespace.'),
        policy: policyKeyParam.exactOptional().describe('`NAMESPACE/NAME`'),
        label: labelParam.exactOptional().describe('KEY=VALUE: only what concerns ImagePolicies with this label.'),
        user: z.string().min(1).max(253).exactOptional().describe('Only actions of this user.'),
        receiver: receiverParam.exactOptional().describe('Only pushes by this receiver.'),
        outcome: z
          .enum(eventOutcomes, { error: `one of ${eventOutcomes.join(', ')}` })
          .exactOptional()
          .describe('Only pushes with this outcome.'),
        digest: digestParam.exactOptional().describe('Only what concerns this digest.'),
        since: instantParam.exactOptional().describe('Only what happened at this time or later; RFC 3339.'),
        until: instantParam.exactOptional().describe('Only what happened at this time or earlier; RFC 3339.'),
        before: position.exactOptional().describe('The `next` of the page before.'),
      }),
      async handle({ query: { before = [fromStart, fromStart], label, ...query }, access, ports }) {
        if (read === undefined)
          throw new AccessError(
            503,
            'this process does not have the role work, so it has no record of activity: send the request to one that has',
          );
        const [pushes, recorded] = before;
        const { activity, next, asOf } = await listActivity(ports, read, access, {
          ...query,
          among: await labelledKeys(ports, label),
          before: [pushes, recorded],
        });
        return { activity, ...defined({ asOf }), ...(next && { next: next.map((one) => one ?? end).join('~') }) };
      },
    }),
  ];
}
