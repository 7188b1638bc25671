import { formatRepository, type Repository } from './image-reference.ts';
import type { ImagePolicy, PolicySpec, PolicyTarget } from './image-policy.ts';
import type { Workload } from './workload.ts';

/** A Secret, by its name. */
export interface SecretRef {
  readonly namespace: string;
  readonly name: string;
}

/** Whether two references name the same Secret. */
export function isSameSecret(a: SecretRef, b: SecretRef): boolean {
  return a.namespace === b.namespace && a.name === b.name;
}

/** The `data` of a Secret (values in base64), or why there is none in words for users: `does not exist`. */
export type SecretContent = { readonly data: Readonly<Record<string, string>> } | { readonly why: string };

/** The value of one key of a Secret; `line`: without white space around it, because editors add a line break at the end of a file. */
export interface SecretValue {
  readonly text: string;
  readonly line: string;
}

/** Reads one key of a Secret, or says why it has no value: `has no key token`. */
export function readKey(content: SecretContent, key: string): SecretValue | { readonly why: string } {
  if ('why' in content) return content;
  const value = Object.hasOwn(content.data, key) ? content.data[key] : undefined;
  if (value === undefined) return { why: `has no key ${key}` };
  const text = Buffer.from(value, 'base64').toString('utf8');
  return { text, line: text.trim() };
}

/** Reads a token, an address or a signing key, which is never empty: whoever can guess an empty signing key could sign, too. */
export function readLine(content: SecretContent, key: string): Pick<SecretValue, 'line'> | { readonly why: string } {
  const found = readKey(content, key);
  return 'line' in found && found.line === '' ? { why: `has nothing under the key ${key}` } : found;
}

/** The Secrets to try before the service's own credentials, in this order. */
export interface PullAccess {
  readonly secrets: readonly PullSecret[];
}

/** A Secret, and the name of the object that refers to it. */
export interface PullSecret extends SecretRef {
  readonly namedBy: 'policy' | 'target' | 'serviceAccount';
}

/** A repository, and the credentials with which to access it; without `access`, the service's own. */
export interface ImageSource extends Repository {
  readonly access?: PullAccess;
  /**
   * When the caller received the event that caused the request, in ms since 1970. If a request was refused after that time, it is not repeated before its pause
   * is over. Without it, the registry is always asked.
   */
  readonly causedAt?: number;
}

/** A key for the access of a source. Only sources with the same key share answers, tokens and polls. */
export function accessKey({ access }: ImageSource): string {
  return (access?.secrets ?? []).map(({ namespace, name }) => `${namespace}/${name}`).join(',');
}

/** The key under which what is read of a source is remembered: by the repository, and by whose credentials could read it. */
export function sourceKey(source: ImageSource, reference: string): string {
  return `${formatRepository(source)} ${accessKey(source)} ${reference}`;
}

/** The cached data about the Secrets that may be used. */
export interface AccessCaches {
  /** The workloads that a target selects. */
  readonly workloadsOf: (target: PolicyTarget) => readonly Workload[];
  /** The names of a service account's imagePullSecrets. */
  readonly pullSecretsOf: (namespace: string, serviceAccount: string) => readonly string[];
}

/** The maximum number of Secrets to try: a selector may match hundreds of workloads. */
const maxSecrets = 32;
const defaultServiceAccount = 'default';

/**
 * The Secrets to try for a policy: its own, then those of its targets' pods, then those of their service accounts; only from its own namespace. Undefined if
 * there are none, so that such policies share the registry's answers.
 */
export function pullAccess({ namespace }: ImagePolicy, spec: PolicySpec, caches: AccessCaches): PullAccess | undefined {
  const own = (spec.pullSecrets ?? []).map((name): PullSecret => ({ namespace, name, namedBy: 'policy' }));
  const workloads = spec.targets.filter((target) => target.namespace === namespace).flatMap(caches.workloadsOf);
  return toAccess([...own, ...podSecrets(workloads, caches)]);
}

/** The Secrets with which the pods of workloads pull their images: those of the pods, then those of their service accounts. Undefined if there are none. */
export function podAccess(workloads: readonly Workload[], caches: Pick<AccessCaches, 'pullSecretsOf'>): PullAccess | undefined {
  return toAccess(podSecrets(workloads, caches));
}

function podSecrets(workloads: readonly Workload[], { pullSecretsOf }: Pick<AccessCaches, 'pullSecretsOf'>): PullSecret[] {
  const ofPods = workloads.flatMap(({ namespace, pullSecrets = [] }) =>
    pullSecrets.map((name): PullSecret => ({ namespace, name, namedBy: 'target' })),
  );
  const ofAccounts = workloads.flatMap(({ namespace, serviceAccount = defaultServiceAccount }) =>
    pullSecretsOf(namespace, serviceAccount).map((name): PullSecret => ({ namespace, name, namedBy: 'serviceAccount' })),
  );
  return [...ofPods, ...ofAccounts];
}

function toAccess(secrets: readonly PullSecret[]): PullAccess | undefined {
  const first = new Map<string, PullSecret>();
  for (const secret of secrets) {
    const key = `${secret.namespace}/${secret.name}`;
    if (!first.has(key) && first.size < maxSecrets) first.set(key, secret);
  }
  return first.size === 0 ? undefined : { secrets: [...first.values()] };
}
