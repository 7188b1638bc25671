/** Keeps the conversion listener's certificate valid, and keeps its authority in the CustomResourceDefinition. */
import { crdName } from '../service/resources/group.ts';
import { version } from '../service/resources/v1.ts';
import { ensureMaterial } from './certificates/own-authority.ts';
import { within } from '../core/async/deadline.ts';
import { backoffMs, requestBackoff } from '../core/async/backoff.ts';
import { repeat, type Repetition } from '../core/async/repeat.ts';
import { type CertificateFiles, checkServingPair, watchCertificateFiles } from './certificates/serving-pair.ts';
import type { Settings } from '../service/config/settings.ts';
import { describeError } from '../core/model/errors.ts';
import { agreeOnSecret } from '../service/kube/secrets.ts';
import type { KubeClient } from '../service/kube/client.ts';
import { readCrd } from '../service/kube/crd/definition.ts';
import { syncCaBundle } from './crd/sync-ca-bundle.ts';
import { type Foundation, openCluster } from '../service/compose/foundation.ts';

/** The source of a certificate. */
export type CertificateSource = 'provisional' | 'files' | 'secret';

export interface CertificateKeeper {
  /** Whether the definition has only v1 and no webhook, so that no conversions are requested. */
  isOff(): boolean;
  /** Passes each new certificate to `show`. Resolves when the listener may open. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export type ShowCertificate = (pair: ReturnType<typeof checkServingPair>, source: CertificateSource) => void;

const everyMs = 60_000;
/**
 * How long the listener waits for the stored certificate. It does not wait for the API server, which may wait for the listener; but making a provisional
 * certificate, which API servers do not trust, takes about as long as reading the Secret.
 */
const storedWithinMs = 250;
/** Short, because a starting API server cannot list policies until it trusts our certificate. */
const maxPauseMs = 5_000;

/** The names in our own certificate. */
export function conversionNames({ config, namespace }: Settings): readonly string[] {
  const { service, names } = config.conversion;
  const domain = `${service.name}.${service.namespace ?? namespace}.svc`;
  return [domain, `${domain}.cluster.local`, ...names];
}

/** Keeps the certificate of the listener: from files that somebody else maintains, or from a Secret with our own authority. */
export async function keepConversionCertificate(foundation: Foundation, show: ShowCertificate): Promise<CertificateKeeper> {
  const { certFile, keyFile, caFile } = foundation.settings.config.conversion;
  if (certFile === undefined || keyFile === undefined) return keepOwn(foundation, await openCluster(foundation.settings), show);
  const client = caFile === undefined ? undefined : await openCluster(foundation.settings);
  return keepFiles(foundation, client, { files: { certFile, keyFile, caFile }, show });
}

function keepOwn(foundation: Foundation, client: KubeClient, show: ShowCertificate): CertificateKeeper {
  const { settings, logger } = foundation;
  const { name, namespace = settings.namespace } = settings.config.conversion.secret;
  const secret = `${namespace}/${name}`;
  const authority = {
    names: conversionNames(settings),
    now: () => new Date(),
    agree: (update: Parameters<typeof agreeOnSecret>[2], signal: AbortSignal) =>
      agreeOnSecret(client, { namespace, name, type: 'kubernetes.io/tls' }, update, signal),
    onRenewed: (renewed: object) => logger.info({ secretName: secret, renewed }, 'conversion certificate renewed'),
  };
  // Runs are serialized: the CustomResourceDefinition must never get a bundle that is older than the Secret.
  let isOff = false;
  const stored = Promise.withResolvers<void>();
  const sync = async (signal: AbortSignal) => {
    const wasOff = isOff;
    // A definition that cannot be read may have a webhook.
    isOff = await convertsNothing(client, signal).catch(() => false);
    if (isOff && !wasOff) logger.info({ crd: crdName }, 'conversion is off: the CustomResourceDefinition has v1 alone, and no webhook');
    if (isOff) return;
    const material = await ensureMaterial(authority, signal);
    show(checkServingPair(material), 'secret');
    stored.resolve();
    await trust(foundation, client, material.authorities, signal);
  };
  let syncs: Repetition | undefined;
  return {
    isOff: () => isOff,
    async start() {
      syncs = repeat(sync, {
        everyMs,
        backoffMs: pauseMs,
        onProblem: (error) =>
          logger.warn({ secretName: secret, why: describeError(error) }, 'conversion certificate failed, will be retried'),
      });
      await within(storedWithinMs, Promise.race([stored.promise, syncs.tried]));
    },
    async stop() {
      await syncs?.stop();
      await client.close();
    },
  };
}

function keepFiles(
  foundation: Foundation,
  client: KubeClient | undefined,
  { files, show }: { files: CertificateFiles; show: ShowCertificate },
): CertificateKeeper {
  const { logger } = foundation;
  let bundle: string | undefined;
  let syncs: Repetition | undefined;
  let watch: Repetition | undefined;
  return {
    isOff: () => false,
    async start() {
      watch = watchCertificateFiles({
        files,
        onPair(pair, caBundle) {
          show(pair, 'files');
          bundle = caBundle;
          syncs?.soon();
        },
        onProblem: (error) =>
          logger.warn({ files, why: describeError(error) }, 'conversion certificate: the files cannot be used as they are'),
      });
      if (client !== undefined) {
        const sync = async (signal: AbortSignal) => {
          if (bundle !== undefined) await trust(foundation, client, bundle, signal);
        };
        const onProblem = (error: unknown) => logger.warn({ why: describeError(error) }, 'conversion certificate failed, will be retried');
        syncs = repeat(sync, { everyMs, backoffMs: pauseMs, onProblem });
      }
      await watch.tried;
    },
    async stop() {
      await Promise.all([watch?.stop(), syncs?.stop()]);
      await client?.close();
    },
  };
}

/** Whether the definition has v1 only and no webhook. With v1alpha1, or before the definition exists, `crd apply` needs an authority to write into it. */
async function convertsNothing(client: KubeClient, signal: AbortSignal): Promise<boolean> {
  const crd = await readCrd(client, crdName, signal);
  return crd !== undefined && crd.spec.conversion?.strategy !== 'Webhook' && crd.spec.versions.every(({ name }) => name === version);
}

async function trust({ settings, logger }: Foundation, client: KubeClient, caBundle: string, signal: AbortSignal): Promise<void> {
  const { name, namespace = settings.namespace } = settings.config.conversion.service;
  const address = { service: { name, namespace }, hosts: conversionNames(settings) };
  const result = await syncCaBundle(client, { name: crdName, address, caBundle }, signal);
  if (result === 'updated') logger.info({ crd: crdName }, 'the API server trusts the conversion certificate now');
  else logger.debug({ crd: crdName, result }, 'caBundle unchanged');
}

function pauseMs(failures: number): number {
  return Math.min(maxPauseMs, backoffMs(failures, Math.random, requestBackoff));
}
