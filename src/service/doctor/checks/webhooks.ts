import { type Check, describeAge, type Finding, ok, warning } from '../finding.ts';

/** The deliveries that arrived at the receivers, and the registries that they are expected to announce. */
export interface WebhookFacts {
  /** The time now; like all times here, in ms since 1970. */
  readonly now: number;
  readonly receivers: readonly ReceiverFacts[];
  /** The registries of the policies. */
  readonly registries: readonly AnnouncedRegistry[];
}

/** A configured receiver, with the time of its last answer for each status. */
export interface ReceiverFacts {
  readonly name: string;
  readonly provider: string;
  readonly lastByStatus: ReadonlyMap<number, number>;
}

/** A registry that policies watch. */
export interface AnnouncedRegistry {
  readonly host: string;
  readonly policies: number;
  readonly lastPush: number | undefined;
  /** The number of images that polls found since the last push, although no webhook had announced them. */
  readonly unannounced: number;
}

const refusals: Readonly<Record<number, readonly [what: string, action: string]>> = {
  401: [
    'not authentic',
    'compare the secret at the registry with receivers[].secrets; the log of the receiver says why ("delivery not authentic")',
  ],
  413: ['too large', 'have the sender send fewer pushes at a time, or raise listen.bodyLimitBytes'],
  429: ['too many', 'raise requestsPerMinute of the receiver, or have the sender send pushes only'],
  503: ['not storable', 'see the lines redis/answers and redis/memory'],
};

/** Checks that pushes arrive. */
export const webhooks: Check<WebhookFacts> = {
  id: 'webhooks',
  lines: ['receivers', 'received', 'announced'],
  evaluate: ({ now, receivers, registries }) => [
    receivers.length === 0
      ? warning(
          'webhooks/receivers',
          'no receivers are configured: images are found by polls only',
          'configure receivers, and a webhook at the registry',
        )
      : ok('webhooks/receivers', receivers.length === 1 ? '1 receiver is configured' : `${receivers.length} receivers are configured`),
    ...receivers.map((receiver) => ({ ...received(receiver, now), subject: receiver.name })),
    ...registries.flatMap((registry) => announced(registry, receivers, now).map((finding) => ({ ...finding, subject: registry.host }))),
  ],
};

function received({ name, provider, lastByStatus }: ReceiverFacts, now: number): Finding {
  const line = 'webhooks/received';
  const who = `${name} (${provider})`;
  const [newest] = [...lastByStatus].sort(([, a], [, b]) => b - a);
  const ago = (at: number) => `${describeAge(now - at)} ago`;
  const accepted = lastByStatus.get(202);
  if (newest === undefined)
    return warning(
      line,
      `${who}: nothing has arrived in the last 30 days`,
      `have the registry send its pushes to /webhooks/${name}; its own delivery log shows whether it tries`,
    );
  const [status, at] = newest;
  const before = accepted === undefined ? 'no push was ever accepted' : `the last push was accepted ${ago(accepted)}`;
  const [why, action] = refusals[status] ?? [];
  if (why !== undefined && action !== undefined)
    return warning(line, `${who}: the last delivery, ${ago(at)}, was refused as ${why} (${status}); ${before}`, action);
  if (accepted === undefined)
    return warning(
      line,
      `${who}: deliveries arrive (the last ${ago(at)}, answered ${status}), but ${before}`,
      'run image-watcher events --outcome ignored, which says why; most often the sender does not match the provider, or sends other events than pushes',
    );
  const refused = [...lastByStatus].filter(([code]) => refusals[code] !== undefined).map(([code, time]) => `, ${code} ${ago(time)}`);
  return ok(line, `${who}: ${before}${refused.join('')}`);
}

/** The number of such finds from which on the service itself reports WebhookMissing. */
const manyFinds = 3;

function announced({ host, policies, lastPush, unannounced }: AnnouncedRegistry, receivers: readonly unknown[], now: number): Finding[] {
  const line = 'webhooks/announced';
  const who = `${host} (${policies} ${policies === 1 ? 'policy' : 'policies'})`;
  const action = `configure a receiver and a webhook for ${host}; if its pushes arrive under another name, set receivers[].registry or registries[].aliases`;
  if (unannounced >= manyFinds) return [warning(line, `${who}: polls found ${unannounced} images that no webhook had announced`, action)];
  if (lastPush !== undefined) return [ok(line, `${who}: the last push was announced ${describeAge(now - lastPush)} ago`)];
  return receivers.length === 0 ? [] : [warning(line, `${who}: no webhook has announced a push, so that it is only polled`, action)];
}
