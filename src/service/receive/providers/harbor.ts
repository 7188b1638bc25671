import { z } from 'zod';
import type { ClaimedPush, IgnoredPush } from '../../../core/model/push-event.ts';
import type { ClaimedScan } from '../../../core/model/scan-event.ts';
import { verifyAuthorizationHeader } from './headers.ts';
import { entries, filled, fromUnixSeconds, limitEntries, optionalText as text, parseJsonBody, toParsedDelivery } from './read-payload.ts';
import type { ParsedDelivery, Provider } from './provider.ts';

const eventData = z.object({
  resources: entries,
  repository: z.object({ repo_full_name: text, namespace: text, name: text }).nullish().catch(undefined),
  replication: z
    .object({
      harbor_hostname: text,
      dest_resource: z.object({ endpoint: text, namespace: text }).nullish().catch(undefined),
      successful_artifact: entries,
    })
    .nullish()
    .catch(undefined),
});
const replicated = z.object({ name_tag: text, references: entries });
const resource = z.object({ digest: text, tag: text, resource_url: text });

const error = "neither of Harbor's formats";
/** The payload in Harbor's Default format or, with `specversion`, in its CloudEvents format (2.8 and later). */
const payload = z.object(
  {
    type: z.string({ error }),
    occur_at: z.number().nullish().catch(undefined),
    event_data: eventData.nullish().catch(undefined),
    specversion: z.string().optional().catch(undefined),
    id: text,
    source: text,
    time: text,
    data: eventData.nullish().catch(undefined),
  },
  { error },
);

const pushTypes = new Set(['PUSH_ARTIFACT', 'pushImage', 'harbor.artifact.pushed']);

const scanTypes = new Set([
  'SCANNING_COMPLETED',
  'SCANNING_FAILED',
  'SCANNING_STOPPED',
  'harbor.scan.completed',
  'harbor.scan.failed',
  'harbor.scan.stopped',
]);

/** The scans that ended with a report. */
const reportTypes = new Set(['SCANNING_COMPLETED', 'harbor.scan.completed']);

const replicationTypes = new Set(['REPLICATION', 'harbor.replication.status.changed']);

interface HarborEvent {
  readonly type: string;
  readonly data: z.output<typeof eventData> | null | undefined;
  readonly idempotencyKey?: string;
  readonly pushedAt?: string | undefined;
}

/** Harbor 2.x, both payload formats of its HTTP webhooks. */
export const harbor: Provider = {
  id: 'harbor',
  documentation: 'https://goharbor.io/docs/latest/working-with-projects/project-configuration/configure-webhooks/',
  announcesScans: true,
  verify: verifyAuthorizationHeader,
  parse(delivery) {
    const event = readEvent(delivery.body);
    if (replicationTypes.has(event.type)) return readReplication(event);
    const repository = repositoryOf(event.data);
    if (repository && scanTypes.has(event.type)) return readScans(event, repository);
    return toParsedDelivery(readPushes(event, repository));
  },
};

function readPushes(event: HarborEvent, repository: string | undefined): readonly (ClaimedPush | IgnoredPush)[] {
  if (!pushTypes.has(event.type)) return [{ reason: `not a push: ${event.type.slice(0, 64)}`, ...filled({ repository }) }];
  if (!repository) return [{ code: 'Incomplete', reason: 'the event names no repository' }];
  const { resources = [] } = event.data ?? {};
  if (resources.length === 0) return [{ code: 'Incomplete', reason: 'the event names no resource', repository }];
  return resources.map((raw) => {
    const { data } = resource.safeParse(raw);
    if (data === undefined) return { code: 'Incomplete', reason: 'a resource has an unexpected structure', repository };
    return toPush(event, repository, data);
  });
}

function readEvent(body: Buffer): HarborEvent {
  const event = parseJsonBody(payload, body);
  if (event.specversion !== undefined) {
    const key = event.id && { idempotencyKey: `${event.source ?? ''} ${event.id}` };
    return { type: event.type, data: event.data, ...key, pushedAt: event.time ?? undefined };
  }
  return { type: event.type, data: event.event_data, pushedAt: fromUnixSeconds(event.occur_at) };
}

function repositoryOf(data: HarborEvent['data']): string | undefined {
  const { repo_full_name: full, namespace, name } = data?.repository ?? {};
  return full || (namespace && name ? `${namespace}/${name}` : undefined);
}

/** Reads a finished replication as a push at its destination. Harbor names tags in `references`, formerly behind the repository's name, or not at all. */
function readReplication(event: HarborEvent): ParsedDelivery {
  const { harbor_hostname: own, dest_resource: destination, successful_artifact: artifacts = [] } = event.data?.replication ?? {};
  const registry = hostOf(destination?.endpoint);
  // Harbor announces replications to other registries as well, where it has pushed itself.
  const isElsewhere = registry !== undefined && own != null && own !== '' && nameOf(registry) !== nameOf(own);
  const results = artifacts.flatMap((raw): (ClaimedPush | IgnoredPush)[] => {
    const { name_tag: written, references } = replicated.safeParse(raw).data ?? {};
    const [, name, tag] = /^([^\s:[]+)(?::([^\s[\]]+))?/.exec(written ?? '') ?? [];
    if (name === undefined) return [{ code: 'Incomplete', reason: 'a replicated artifact has an unexpected structure' }];
    const repository = destination?.namespace ? `${destination.namespace}/${name}` : name;
    const named = references?.filter((one) => typeof one === 'string' && one !== '') ?? [];
    const tags = named.length > 0 ? named : tag === undefined ? [] : [tag];
    if (tags.length === 0) return [{ code: 'NoTag', reason: 'the replication names no tag', repository }];
    const push = { repository, ...filled({ registry }), ...(isElsewhere && { isElsewhere }), ...originOf(event) };
    return tags.map((tag) => ({ ...push, tag: String(tag) }));
  });
  if (results.length === 0) return toParsedDelivery([{ reason: `no artifact was replicated: ${event.type}` }]);
  const parsed = toParsedDelivery(results);
  limitEntries(parsed.pushes.length);
  return parsed;
}

/** Reads the scans that ended; failed and stopped scans have ended as well. Most name only the digest. */
function readScans({ type, data }: HarborEvent, repository: string): ParsedDelivery {
  const scans = (data?.resources ?? []).flatMap((raw): ClaimedScan[] => {
    const { digest, tag, resource_url: url } = resource.safeParse(raw).data ?? {};
    if (!digest && !tag) return [];
    const registry = url?.includes('/') ? hostOf(url) : undefined;
    return [{ type, repository, ...filled({ registry, tag, digest }), ...(reportTypes.has(type) && { hasReport: true }) }];
  });
  const ignored = scans.length > 0 ? [] : [{ code: 'Incomplete', reason: 'the scan names no image', repository } as const];
  return { pushes: [], ignored, scans };
}

function hostOf(url: string | null | undefined): string | undefined {
  return url?.replace(/^https?:\/\//, '').split('/')[0];
}

/** A host without its port: Harbor names itself without one. */
function nameOf(host: string): string {
  return host.replace(/:\d+$/, '').toLowerCase();
}

function originOf({ idempotencyKey, pushedAt }: HarborEvent): Pick<ClaimedPush, 'idempotencyKey' | 'pushedAt'> {
  return filled({ idempotencyKey, pushedAt });
}

function toPush(event: HarborEvent, repository: string, { digest, tag, resource_url: url }: z.output<typeof resource>): ClaimedPush {
  const registry = hostOf(url);
  return {
    repository,
    ...originOf(event),
    ...(registry && url?.includes('/') && { registry }),
    ...filled({ tag, digest }),
  };
}
