import type { SecretContent, SecretRef } from '../../core/model/image-source.ts';
import type { KubeClient } from '../kube/client.ts';
import type { AllowedChecks } from './allowed-checks.ts';

/** A Prometheus that the operator offers to policies. */
export interface PrometheusServer {
  readonly name: string;
  readonly url: string;
  /** The current bearer token, if the server asks for one. */
  readonly token: () => string | undefined;
  /** The namespaces whose policies may ask the server; empty for all. */
  readonly namespaces: readonly string[];
}

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
