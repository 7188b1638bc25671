import { type Check, type Finding, ok, warning } from '../finding.ts';
import { say, sayAge, type Said } from '../say.ts';

/** The deliveries that arrived at the receivers, and the registries that they are expected to announce. */
export interface WebhookFacts {
  /** The time now; like all times here, in ms since 1970. */
  readonly now: number;
  readonly receivers: readonly ReceiverFacts[];
  /** The registries that policies watch. */
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

/** The statuses that refuse a delivery: what each says, and what to do. */
const refusals: Readonly<Record<number, readonly [what: Said, action: Said]>> = {
  401: [say('webhooks.401'), say('webhooks.401.do')],
  413: [say('webhooks.413'), say('webhooks.413.do')],
  429: [say('webhooks.429'), say('webhooks.429.do')],
  503: [say('webhooks.503'), say('webhooks.503.do')],
};

/** Checks that pushes arrive. */
export const webhooks: Check<WebhookFacts> = {
  id: 'webhooks',
  lines: ['receivers', 'received', 'announced'],
  evaluate: ({ now, receivers, registries }) => [
    receivers.length === 0
      ? warning('webhooks/receivers', say('webhooks.none'), say('webhooks.none.do'))
      : ok('webhooks/receivers', receivers.length === 1 ? say('webhooks.one') : say('webhooks.many', receivers.length)),
    ...receivers.map((receiver) => ({ ...received(receiver, now), subject: receiver.name })),
    ...registries.flatMap((registry) => announced(registry, receivers, now).map((finding) => ({ ...finding, subject: registry.host }))),
  ],
};

function received({ name, provider, lastByStatus }: ReceiverFacts, now: number): Finding {
  const line = 'webhooks/received';
  const [newest] = [...lastByStatus].sort(([, a], [, b]) => b - a);
  const age = (at: number) => sayAge(now - at);
  const accepted = lastByStatus.get(202);
  if (newest === undefined) return warning(line, say('webhooks.silent', name, provider), say('webhooks.silent.do', name));
  const [status, at] = newest;
  const before = accepted === undefined ? say('webhooks.never') : say('webhooks.last', age(accepted));
  const [why, action] = refusals[status] ?? [];
  if (why !== undefined && action !== undefined)
    return warning(line, say('webhooks.refused', name, provider, age(at), why, status, before), action);
  if (accepted === undefined)
    return warning(line, say('webhooks.ignored', name, provider, age(at), status, before), say('webhooks.ignored.do'));
  const refused = [...lastByStatus]
    .filter(([code]) => refusals[code] !== undefined)
    .reduce((all, [code, time]) => say('webhooks.earlier', all, code, age(time)), say('webhooks.start'));
  return ok(line, say('webhooks.works', name, provider, before, refused));
}

/** The number of such finds from which on the service itself reports WebhookMissing. */
const manyFinds = 3;

function announced({ host, policies, lastPush, unannounced }: AnnouncedRegistry, receivers: readonly unknown[], now: number): Finding[] {
  const line = 'webhooks/announced';
  const count = policies === 1 ? say('policies.one') : say('policies.many', policies);
  const action = say('webhooks.missing.do', host);
  if (unannounced >= manyFinds) return [warning(line, say('webhooks.missing', host, count, unannounced), action)];
  if (lastPush !== undefined) return [ok(line, say('webhooks.announced', host, count, sayAge(now - lastPush)))];
  return receivers.length === 0 ? [] : [warning(line, say('webhooks.polled', host, count), action)];
}
