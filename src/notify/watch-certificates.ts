/** Adds a notice when a certificate of the service is about to expire. */
import { X509Certificate } from 'node:crypto';
import { splitBundle } from '../core/model/certificate-bundle.ts';
import { describeError } from '../core/model/errors.ts';
import type { IdentifiedNotice } from '../core/model/notice.ts';
import { hashId } from '../core/model/push-event.ts';
import type { RedisConnection } from '../service/queue/connection.ts';
import type { Foundation } from '../service/compose/foundation.ts';
import type { WorkMeans } from '../service/compose/work-wing.ts';
import type { NoticeSink } from '../core/model/notice-sink.ts';

const everyMs = 3_600_000;
/** How long a notice is remembered: the duration of the longest stage, and some days more. */
const rememberSeconds = 30 * 24 * 3_600;

interface CertificatePorts extends Pick<NoticeSink, 'add'> {
  readonly read: WorkMeans['readCertificates'];
}

/** Watches the certificates that the service serves or trusts. Those of Ingresses are checked by `image-watcher doctor`. */
export function watchCertificates({ settings, logger }: Foundation, redis: RedisConnection, { add, read }: CertificatePorts) {
  if (settings.notificationTargets.length === 0) return { stop: () => undefined };
  const check = async () => {
    const now = new Date();
    for (const { name, pem } of await read()) {
      const notice = typeof pem === 'string' ? certificateNotice(name, pem, now) : undefined;
      if (notice === undefined) continue;
      const key = `${settings.config.redis.prefix}:notice:told:${hashId(notice.identity)}`;
      if ((await redis.exists(key)) === 1) continue;
      await add([notice]);
      await redis.set(key, '1', 'EX', rememberSeconds);
    }
  };
  const checkLogged = () => check().catch((error: unknown) => logger.warn({ why: describeError(error) }, 'certificates not checked'));
  void checkLogged();
  const timer = setInterval(() => void checkLogged(), everyMs);
  return { stop: () => clearInterval(timer) };
}

/** The notice about a certificate that is about to expire. Each stage has one. */
export function certificateNotice(name: string, pem: string, now: Date): IdentifiedNotice | undefined {
  const expiry = soonestExpiry(pem, now);
  if (expiry === undefined) return undefined;
  const { stage, notAfter } = expiry;
  const end = notAfter.toISOString();
  const message =
    stage === 'Expired' ? `it ended at ${end}` : `it ends at ${end}: renew it, or check what renews it; "image-watcher doctor" says more`;
  return {
    notice: { kind: 'CertificateExpiring', subject: { kind: 'Certificate', name, uid: name }, at: now.toISOString(), message },
    identity: ['CertificateExpiring', name, end, stage],
  };
}

/** How soon a certificate expires. Each stage has its own message. */
type ExpiryStage = 'Expired' | '3 days' | '14 days';

const dayMs = 86_400_000;
const stages: readonly (readonly [stage: ExpiryStage, withinMs: number])[] = [
  ['Expired', 0],
  ['3 days', 3 * dayMs],
  ['14 days', 14 * dayMs],
];

/** The first expiry of the certificates in a PEM text, if it is soon. Unreadable certificates are ignored. */
function soonestExpiry(pem: string, now: Date): { readonly stage: ExpiryStage; readonly notAfter: Date } | undefined {
  const [notAfter] = splitBundle(pem)
    .map((one) => new X509Certificate(one).validToDate)
    .toSorted((a, b) => a.getTime() - b.getTime());
  if (notAfter === undefined) return undefined;
  const found = stages.find(([, withinMs]) => notAfter.getTime() - now.getTime() <= withinMs);
  return found && { stage: found[0], notAfter };
}
