/** The foundation of all roles, and connections that several of them share. */
import { readFileSync } from 'node:fs';
import { type Config, ConfigError, type Settings } from '../config.ts';
import { createKubeClient, type KubeClient } from '../kube/client.ts';
import { describeError } from '../model/errors.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Check } from '../telemetry/readiness.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { readTrustRoot } from '../verify/trust.ts';

/** The settings, logger, metrics and traces of the process. */
export interface Foundation {
  readonly settings: Settings;
  readonly aliases: ReadonlyMap<string, string>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Absent where traces are off. */
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

/** Creates a client of the cluster, without connecting; throws ConfigError without a usable kubeconfig. */
export function openCluster(kubeconfig: string | undefined, kind: 'own' | 'users' = 'own'): KubeClient {
  try {
    return createKubeClient({ ...(kubeconfig !== undefined && { kubeconfig }), kind });
  } catch (error) {
    throw new ConfigError('Kubernetes access', [{ path: 'KUBECONFIG', message: describeError(error) }]);
  }
}

/** The trust root of keyless signatures. */
export type TrustRoot = ReturnType<typeof readTrustRoot>;

/** Reads the trust root of the configuration, if it has one; throws ConfigError if it cannot be used. */
export function openTrustRoot({ verification: { trustRootFile: file } }: Config): TrustRoot | undefined {
  if (file === undefined) return undefined;
  try {
    return readTrustRoot(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ConfigError('configuration', [{ path: 'verification.trustRootFile', message: `${file}: ${describeError(error)}` }]);
  }
}
