import type { PrometheusServer } from '../../core/model/rollout-check.ts';
import type { SecretContent, SecretRef } from '../../core/model/image-source.ts';
import type { KubeClient } from '../kube/client.ts';
import type { AllowedChecks } from './allowed-checks.ts';

/** What checks are asked with, and what the operator allows. */
export interface CheckMeans extends AllowedChecks {
  readonly fetch: typeof fetch;
  readonly servers: readonly PrometheusServer[];
  /** The secret from which the names of Jobs and AnalysisRuns follow, which nobody knows who may create them. */
  readonly checkSecret: () => Promise<string>;
  readonly client: KubeClient;
  readonly readSecret: (secret: SecretRef, options: { readonly refresh: boolean; readonly signal?: AbortSignal }) => Promise<SecretContent>;
  /** The name of the cluster, which events name. */
  readonly cluster?: string | undefined;
  /** The current time, in ms since 1970. */
  readonly now: () => number;
}

/** How long one question may take, in ms. */
export const answerWithinMs = 10_000;
