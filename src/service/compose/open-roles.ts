/** Builds the roles of a process: receive, work, convert and web. */
import type { Role } from './roles.ts';
import type { ServiceWing } from './wing.ts';
import { type Foundation, openAccess, openTrustRoot } from './foundation.ts';
import { createKubeClient } from '../kube/client.ts';
import { checkAuthorities } from './registries.ts';
import { createReporter } from '../doctor-facts/make-report.ts';
import { composeReceive } from './receive.ts';
import { openRedis, measureWaiting } from './redis.ts';
import { composeWork } from './work.ts';
import type { ServedCertificate } from '../doctor/finding.ts';

/** A wing, with what it adds to the service; undefined if it adds nothing to it. */
export interface LoadedWing {
  readonly id: string;
  readonly wing: ServiceWing | undefined;
}

/** The roles of one process, and the connections that they share; what the process does not have is undefined. */
export type OpenRoles = Awaited<ReturnType<typeof openRoles>>;

/** Builds the roles, and the connections that they share. Those that may throw are built first, while nothing is open. */
export async function openRoles(foundation: Foundation, roles: ReadonlySet<Role>, loaded: readonly LoadedWing[]) {
  const { settings, logger } = foundation;
  const wings = loaded.flatMap(({ wing }) => wing ?? []);
  const convert = roles.has('convert') ? await only(wings, 'convert')?.(foundation) : undefined;
  const access = roles.has('work') ? await openAccess(settings) : undefined;
  const client = access && createKubeClient(access);
  const trustRoot = client && openTrustRoot(settings);
  if (client !== undefined) checkAuthorities(settings);
  const dashboard = roles.has('web') ? only(wings, 'web')?.(foundation, roles.has('work')) : undefined;
  const readConversionCertificate = certificateReader(foundation, wings);
  const redis = roles.has('receive') || roles.has('work') ? openRedis(settings, logger) : undefined;
  const waiting = redis && measureWaiting(redis, foundation);
  const readServedCertificates = async () => {
    const read = await readConversionCertificate(undefined);
    return 'certificate' in read ? [{ name: 'certificate of the conversion webhook', pem: read.certificate }] : [];
  };
  const ofRedis = redis && { failFastRedis: redis.connection, redisHealth: redis.health, storesPushes: roles.has('receive') };
  const work =
    client &&
    ofRedis &&
    composeWork(
      foundation,
      { client, ...ofRedis, trustRoot, readServedCertificates },
      wings.flatMap((wing) => wing.work ?? []),
    );
  const receive =
    roles.has('receive') && redis !== undefined ? composeReceive(foundation, redis, (push) => work?.takeStored(push)) : undefined;
  const doctor =
    client &&
    redis &&
    work &&
    createReporter(foundation, {
      client,
      redis,
      ...work.view,
      readConversionCertificate: () => readConversionCertificate(convert?.address()),
    });
  return { convert, access, dashboard, redis, waiting, work, receive, doctor };
}

/** A part of the service that at most one wing has. */
function only<T extends keyof ServiceWing>(wings: readonly ServiceWing[], part: T): ServiceWing[T] | undefined {
  return wings.find((wing) => wing[part] !== undefined)?.[part];
}

function certificateReader(foundation: Foundation, wings: readonly ServiceWing[]): (own: string | undefined) => Promise<ServedCertificate> {
  const read = only(wings, 'readConversionCertificate');
  return async (own) => read?.(foundation, own) ?? { why: 'this product has no conversion webhook' };
}
