/** The foundation of all roles, and connections that several of them share. */
import { defined } from '../../core/model/defined.ts';
import type { Turns } from '../../core/async/turns.ts';
import type { Settings } from '../config/settings.ts';
import { ConfigError } from '../config/config-error.ts';
import { readSettingFile } from '../config/setting-file.ts';
import { createKubeClient, type KubeClient } from '../kube/client.ts';
import type { KubeAccessSource } from '../kube/kube-access.ts';
import { loadKubeAccess } from '../kube/load-kube-access.ts';
import { describeError } from '../../core/model/errors.ts';
import type { OlderVersion } from '../resources/kinds.ts';
import type { Outbound } from '../proxy/outbound.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Check } from '../telemetry/readiness.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { readTrustRoot } from '../verify/trust.ts';

/** The settings, versions, logger, metrics, traces, turns and outgoing connections of the process. */
export interface Foundation {
  readonly settings: Settings;
  readonly aliases: ReadonlyMap<string, string>;
  /** The versions of ImagePolicy that wings add. */
  readonly olderVersions: readonly OlderVersion[];
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** When pages may go on: pushes go first. */
  readonly turns: Turns;
  /** The outgoing connections to everything but registries and the cluster. */
  readonly outbound: Outbound;
  /** The traces of the process; absent if traces are off. */
  readonly tracing?: Tracing | undefined;
}

/** A part of the service that is started and stopped. */
export interface Part {
  readonly checks: () => readonly Check[];
  /** Updates the gauges before a scrape. */
  readonly measure?: () => void;
  start(): Promise<void>;
  stop(deadlineMs: number): Promise<void>;
}

/** Opens the access to the cluster, without connecting; rejects with ConfigError without a usable kubeconfig. */
export async function openAccess({ kubeconfig, pod }: Settings): Promise<KubeAccessSource> {
  try {
    return await loadKubeAccess({ pod, ...defined({ kubeconfig }) });
  } catch (error) {
    throw new ConfigError([{ where: 'Kubernetes access', path: '', message: describeError(error) }]);
  }
}

/** Opens a client of the cluster, without connecting; rejects with ConfigError without a usable kubeconfig. */
export async function openCluster(settings: Settings): Promise<KubeClient> {
  return createKubeClient(await openAccess(settings));
}

/** The trust root of keyless signatures. */
export type TrustRoot = ReturnType<typeof readTrustRoot>;

/** Reads the trust root of the configuration, if it has one; throws ConfigError if it cannot be used. */
export function openTrustRoot(settings: Settings): TrustRoot | undefined {
  const file = settings.config.verification.trustRootFile;
  if (file === undefined) return undefined;
  return readSettingFile(settings, ['verification', 'trustRootFile'], file, readTrustRoot);
}
